// Package oarrla is the experiment of OAR11, section 5: brokers who share seven
// clusters, by offers with advance reservation (OAR) or by learned shares (RLA).
//
//	Grid x Source x Steps x Strategies  ->  a run each  ->  figures 2 and 3, claims
//
// New is the experiment as the paper has it; Run carries it out, each cell of the
// table a scenario of its own (package scenario). Begin with experiment.go;
// source.go is where the jobs come from, settings.go where every choice does, and
// claims.go the register of what the paper claims.
package oarrla

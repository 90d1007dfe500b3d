// Package oarrla runs grids of brokers and resource agents: from a file
// (Config), once (Simulate), and as the experiment of OAR11, section 5
// (Experiment).
package oarrla

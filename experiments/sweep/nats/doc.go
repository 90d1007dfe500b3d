// Package nats carries out studies by workers on any machines that reach a NATS
// server with JetStream: a queue for those without a batch system.
//
//	engine := nats.Engine{Server: nats.Server{URL: "nats://127.0.0.1:4222"}}
//	results, err := sweep.Run(ctx, sweep.Study{..., Engine: engine}, do)
//
//	worker := nats.Worker{Server: nats.Server{URL: "nats://127.0.0.1:4222"}, Build: build, Open: open}
//	err := worker.Run(ctx)
//
// A study has two streams and a store of files on the server, named after its basis
// and its text, so that several studies on one server do not mix:
//
//	gridslot-ID-units    gridslot.ID.unit.KEY        the queue: each unit at most once
//	gridslot-ID-results  gridslot.ID.result.KEY.SUM  what became of units, until the study's folder has it
//	gridslot-ID (files)  job, and inputs by checksum
//
// # Nothing is lost
//
// A worker takes a unit, carries it out, has its outcome stored among the results,
// and only then takes it off the queue. While it works it says so every third of the
// time after which the server gives the unit to another. So a unit is in the queue, or
// among the results, or in the study's folder.
//
// A server that is killed may lose the last of what it has confirmed: it does not
// force each message to the disk. So the coordinator counts: where fewer units are
// queued than it misses, although it has read all results, it queues the missing ones
// again. This is also how a study is begun and gone on with, and why workers need not
// be sure that a unit which they give back has arrived.
//
// Its account of whom it has given what may be as old: then a unit is in the queue, and is given to
// nobody for ever. So where units are queued and none is under way, and workers wait all the
// same, the coordinator has the server make a new account, and where that is gone.
//
// # Nothing is there twice
//
// A subject of the queue takes one unit, one of the results one outcome: each is
// published as the first on its subject, and the server's error that it is not
// (10071, or 10164 of a cluster) is the only one that means "already there". Its error for
// a stream that takes one message a subject does not do: it has the same
// code as a store that is full. The subject of a result ends in the checksum
// of its row: equal results of a unit that was carried out twice are one message, and
// different ones are two, which the study's folder tells apart.
//
// # Nothing stands still
//
// The coordinator removes from the server what the study's folder has, so a small
// store does not stay full; workers keep their outcome until there is room. The room that the
// queue and the files need is reserved, so that results always have theirs. A unit whose
// worker went away as often as it may be tried is set aside by the next one that gets it,
// which stores that as its outcome.
//
// The program that holds a server in itself is package embedded, apart from this one
// because a server takes longer to compile than all of gridslot's own packages.
package nats

// Package remote lets a scheduler outside the program decide: in another language, written by
// somebody else, or on another machine.
//
// A Policy speaks the protocol of the simulator Batsim, versions 3 and 4: messages of JSON, one
// request and one reply in turn. There are two ways to carry them:
//
//	TCP("127.0.0.1:28000")   ZeroMQ's wire (ZMTP 3.0, a REQ socket): the scheduler binds and
//	                         answers, as it does with Batsim
//	Command("./my.py")       a program that is started with the run, and reads a request and
//	                         writes a reply a line each on its standard input and output
//
// # The conversation
//
//	gridslot                                            scheduler
//	{"now": 0, events: [SIMULATION_BEGINS]}        -->
//	                                               <--  {"now": 0, "events": []}
//	{"now": 7, events: [JOB_SUBMITTED w0!1]}       -->
//	                                               <--  {"now": 7, events: [EXECUTE_JOB w0!1 on 0-3]}
//	{"now": 19, events: [JOB_COMPLETED w0!1]}      -->
//	                                               <--  {"now": 19.5, "events": []}
//	{"now": 19.5, events: [SIMULATION_ENDS]}       -->
//
// All that happens at one instant is one request. Each decision of a reply takes effect at its
// own timestamp, and the scheduler is asked again at the reply's now at the earliest: what
// happens until then is collected. A decision that takes time is thus a reply whose now is later
// than the request's.
//
// A decision that cannot be carried out ends the run with an error that names it. So does a
// scheduler that does not answer in time, disconnects, or contradicts what has happened.
package remote

// Package grid simulates several clusters that brokers share by negotiation over a
// network: the agents of Makhlouf and Yagoubi (2011, "OAR11").
//
//	       jobs                        Broker         decides by a Strategy
//	         |                         ResourceAgent  speaks for a cluster
//	   +-----+-----+                   Regulator      places what brokers could not
//	   v           v                   Network        lets messages take their time
//	Broker      Broker  ----------->  Regulator
//	   |  \       /  |                   |
//	   |    \   /    |   messages        |
//	   v      v      v                   v
//	 ResourceAgent   ResourceAgent   (all agents)
//	       |               |
//	 Metascheduler   Metascheduler
//	       |               |
//	    Cluster         Cluster
//
// # The life of a job in a grid
//
// A job is a bag of as many tasks as it asks for processors. It arrives at one
// broker, whose strategy splits it into fragments and places each: in a slot that
// an agent has offered, in an agent's queue, or with the regulator. A fragment is
// an ordinary job of its cluster, beside the site's own. An answer can come too
// late: if others have taken the offered slot, the regulator asks all agents
// for their earliest windows, which they keep until it commits or cancels. The
// job starts with its first fragment and ends with its last one.
//
// A site may be a grid itself, whose metascheduler asks its own sites before it
// answers (AddGrid).
//
// # Where to begin
//
// Read Strategy and Broker: a strategy is three methods, and asks and places
// through its broker. NewGrid, AddAgent, AddBroker and Submit make a grid; the
// guide docs/guides/grids.md has a program, package policy/agent the
// strategies.
package grid

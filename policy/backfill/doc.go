// Package backfill holds the queue policies: FCFS, EASY and conservative
// backfilling, one text of each, and the queue orders that any of them takes.
// They read an entity.Plan and know nothing of its geometry, so they run on
// counted processors and on priced nodes alike.
//
//	processors
//	   ^ +----------+---------+
//	   | |          | head of |        the head of the queue fits when a job ends:
//	   | |  runs    | queue   |        its shadow time
//	   | +-----+----+ (held)  |
//	   | |  b  |    |         |        b is backfilled: it ends before that
//	   +-+-----+----+---------+---> time
//	    now       shadow time
//
//	FCFS          starts the head while it fits, and nothing else
//	EASY          also starts what does not delay the head, which holds a window
//	Conservative  gives each job a window when it arrives, and moves it up later
//	ListScheduling  starts tasks of workflows by upward rank, where each ends first
//
// The zero value of each is the policy of the literature, on the order of
// submission. EASY's settings (orders, how many reservations, how deep) make most
// of its variants. PublishedEASY has the habits of simulators whose results are published.
package backfill

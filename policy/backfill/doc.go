// Package backfill holds the queue policies: FCFS, EASY and conservative
// backfilling, one text of each, and the queue orders that any of them takes.
// They read an entity.Plan and know nothing of its geometry, so they run on
// counted processors and on priced nodes alike.
package backfill

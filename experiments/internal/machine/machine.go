// Package machine tells what the machine has that this process may use.
package machine

// Memory is how many bytes of memory there are for this process: those of the
// machine, or fewer where its control group may have fewer. It is 0 where that
// is not known.
func Memory() int64 { return memory() }

// Available is how many bytes of it nobody uses now, as far as that is known;
// otherwise 0. What the system keeps of files counts as not used.
func Available() int64 { return available() }

// The catalogue of archive logs.

package traces

import "slices"

// Archive is the source of the catalogue's logs, to be cited with them:
// Feitelson, Tsafrir, Krakov, "Experience with using the Parallel Workloads
// Archive", JPDC 74(10), 2014. The donors are named in the logs' headers.
const Archive = "Parallel Workloads Archive"

// Log is an entry of the catalogue. Numbers were measured on the log; 0 means
// unknown.
type Log struct {
	Name       string // as the archive names it
	Jobs       int
	Processors int
	Days       float64 // span of the submissions
	Load       float64 // offered load
	Accuracy   float64 // mean runtime / estimate
	Note       string  // what to know before use
}

// File is the name of the log's file.
func (l Log) File() string { return l.Name + ".swf.gz" }

const reduced = "counts without jobs that have no runtime, estimate or processors; runtimes cut to the estimate"

// Catalogue returns the known logs, in order of name. The caller may change it.
func Catalogue() []Log {
	return slices.Clone(catalogue[:])
}

var catalogue = [...]Log{
	{"CEA-Curie-2011-2.1-cln", 312_826, 93_312, 253.7, 0.628, 0.183, "the header counts the jobs before cleaning"},
	{"CTC-SP2-1996-3.1-cln", 77_199, 338, 339.1, 0.836, 0.392, reduced},
	{"KTH-SP2-1996-2.1-cln", 28_476, 100, 332.9, 0.701, 0.473, ""},
	{"LLNL-Atlas-2006-2.1-cln", 43_778, 9_216, 193.0, 0.704, 0.255, "1,152 nodes; no waits; 19% of the estimates missing"},
	{"NASA-iPSC-1993-3.1-cln", 18_239, 128, 92.0, 0.466, 0, "no estimates and no waits"},
	{"RICC-2010-2", 447_794, 8_192, 153.0, 0.872, 0.117, ""},
	{"SDSC-BLUE-2000-4.2-cln", 232_542, 1_152, 979.1, 0.763, 0.313, reduced},
	{"SDSC-SP2-1998-4.2-cln", 54_006, 128, 731.3, 0.823, 0.323, reduced},
	{"UniLu-Gaia-2014-1", 51_987, 2_004, 89.1, 0.453, 0.201, ""},
}

// The catalogue of archive logs.

package traces

import (
	_ "embed" // the catalogue
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Archive is the source of the catalogue's logs, to be cited with them:
// Feitelson, Tsafrir, Krakov, "Experience with using the Parallel Workloads
// Archive", JPDC 74(10), 2014. The donors are named in the logs' headers.
const Archive = "Parallel Workloads Archive"

const (
	// archiveCitation is the paper that whoever uses any log is asked to cite.
	archiveCitation = `D. G. Feitelson, D. Tsafrir, D. Krakov: Experience with using the Parallel Workloads Archive. Journal of Parallel and Distributed Computing 74(10), 2014`
	// archivePage is the archive's address.
	archivePage = "https://www.cs.huji.ac.il/labs/parallel/workload/"
)

// Log is an entry of the catalogue. 0 and "" mean unknown. Addresses lead to versions of logs that
// are in use, which the archive may have replaced by newer versions.
type Log struct {
	Name string // as the archive names it
	// Jobs and Processors are counted as Counted says.
	Jobs       int
	Processors int
	// Days is the span of the submissions. Days, Load and Accuracy were measured on the log.
	Days float64
	// Load is the offered load, relative to all processors.
	Load float64
	// Accuracy is the mean of runtime / estimate.
	Accuracy float64
	Note     string // what to know before use

	// Counted tells where Jobs and Processors come from: the "log" itself, its
	// "header", the archive's "page", or the "book", Feitelson's Workload Modeling
	// for Computer Systems Performance Evaluation. All but the log count the jobs
	// before cleaning.
	Counted     string
	From, To    int    // years
	Machine     string // and its scheduler
	Site        string
	Acknowledge string // who gave the log, and is to be thanked
	Paper       string // to be cited beside the archive's
	Missing     string // what no job has, or not every one
	Page        string // address of the archive's page
	URL         string // address of the file
	SHA256      string // of the file, in hexadecimal
}

// file returns the name of the log's file in the archive.
func (l Log) file() string { return l.Name + packed }

// Citations returns the works to cite in a publication that uses the log.
func (l Log) Citations() []string {
	if l.Paper == "" {
		return []string{archiveCitation}
	}
	return []string{archiveCitation, l.Paper}
}

// packed is the ending of the archive's files.
const packed = ".swf.gz"

// Catalogue returns the known logs, in order of name. The caller may change it.
func Catalogue() []Log { return slices.Clone(catalogue()) }

// Known returns the catalogue's entry of a log. The name may have the ending of the file. The
// second result is false if the catalogue has no such log.
func Known(name string) (Log, bool) {
	name = strings.TrimSuffix(name, packed)
	logs := catalogue()
	if i := slices.IndexFunc(logs, func(l Log) bool { return l.Name == name }); i >= 0 {
		return logs[i], true
	}
	return Log{}, false
}

// No checksums of the archive's files are known, and a file that was packed again has
// another one. So there is no column for them before one is known for sure.
//
//go:embed catalogue.csv
var catalogueText string

// catalogue is read once, by those who ask for it.
var catalogue = sync.OnceValue(func() []Log {
	logs, err := readCatalogue(catalogueText)
	if err != nil {
		panic("traces: catalogue.csv: " + err.Error()) // a test reads it
	}
	return logs
})

// readCatalogue reads the logs of a CSV file with a row for each, and their names in
// its first line. Empty fields are unknown.
func readCatalogue(text string) (logs []Log, err error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("it is empty")
	}
	columns := map[string]int{}
	for i, name := range rows[0] {
		columns[name] = i
	}
	for i, row := range rows[1:] {
		var wrong error
		text := func(column string) string {
			at, ok := columns[column]
			if !ok {
				wrong = fmt.Errorf("it has no column %s", column)
				return ""
			}
			return row[at]
		}
		number := func(column string) float64 {
			value := text(column)
			if value == "" {
				return 0
			}
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				wrong = fmt.Errorf("row %d, %s: %q is no number", i+2, column, value)
			}
			return x
		}
		page := archivePage + text("folder") + "/"
		l := Log{
			Name: text("name"), Jobs: int(number("jobs")), Processors: int(number("processors")), Days: number("days"),
			Load: number("load"), Accuracy: number("accuracy"), Note: text("note"), Counted: text("counted"),
			From: int(number("from")), To: int(number("to")), Machine: text("machine"), Site: text("site"),
			Acknowledge: text("acknowledge"), Paper: text("cite"), Missing: text("missing"), Page: page + "index.html",
		}
		l.URL = page + l.file()
		if wrong != nil {
			return nil, wrong
		}
		logs = append(logs, l)
	}
	return logs, nil
}

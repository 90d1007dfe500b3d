package metrics

import (
	"strings"

	"github.com/gridslot/gridslot/metrics/rows"
)

// The first lines of files, and what follows them in some runs.
var (
	JobsHeader        = strings.TrimSuffix(rows.Jobs.Only().Header(), GroupColumns)
	AttemptsColumns   = columnsOf(rows.WithAttempts)
	BookedColumn      = columnsOf(rows.WithBookings)
	MoneyColumns      = columnsOf(rows.WithPrices)
	PredictionColumns = columnsOf(rows.WithPredictions)
	AttemptsHeader    = rows.Attempts.Header()
	QueueHeader       = rows.Queue.Header()
)

// GroupColumns are the last of the columns that jobs-POLICY.csv always has.
const GroupColumns = ",group_id,queue_id"

func columnsOf(condition string) string {
	part, _ := rows.Jobs.Part(condition)
	return "," + part.Header()
}

package metrics

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/rows"
)

const flushAt = 1 << 16

func appendTime(b []byte, t des.Time) []byte { return rows.AppendTime(b, t) }
func escapeCSV(s string) []byte              { return rows.AppendName(nil, s) }
func appendBit(b []byte, set bool) []byte {
	if set {
		return append(b, '1')
	}
	return append(b, '0')
}

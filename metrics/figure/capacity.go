package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/metrics/rows"
)

// parts are the columns of capacity.csv that add up to its column capacity.
var parts = []string{"useful", "lost", "overhead", "owners", "down", "idle"}

// partColour is the colour of the k-th part: pale for what nobody used, dark for what was out of
// service.
func partColour(k int) color.RGBA {
	return []color.RGBA{colour(0), colour(1), colour(4), colour(2), grey, pale}[k]
}

// drawCapacity draws what became of the capacity, a bar for each row of capacity.csv. Parts that
// no row has are not in the legend.
func drawCapacity(t *rows.TextTable) (*Figure, error) {
	if len(t.Rows) == 0 {
		return nil, &noDataError{"capacity", "capacity.csv, which is written where jobs can be stopped or nodes have owners' jobs"}
	}
	var names []string
	var bars boxes
	shown := make([]bool, len(parts))
	for i := range t.Rows {
		names = append(names, t.Text(i, "policy"))
		y, from, all := float64(len(t.Rows)-1-i), 0.0, t.Number(i, "capacity")
		// Parts stand behind each other, from the left on. A part that is empty, or a capacity of
		// 0, has no bar.
		for k, part := range parts {
			share := 100 * t.Number(i, part) / all
			if math.IsNaN(share) || math.IsInf(share, 0) || share <= 0 {
				continue
			}
			shown[k] = true
			bars = append(bars, box{from, from + share, y - 0.35, y + 0.35, partColour(k)})
			from += share
		}
	}
	all := []series{draws("", bars)}
	for k, part := range parts {
		if shown[k] {
			all = append(all, says(part, partColour(k)))
		}
	}
	ticks, height := rowsOf(names, 30*vg.Millimeter)
	f := column(vg.Length(len(t.Rows))*max(6*vg.Millimeter, height) + 12*vg.Millimeter)
	return f.show(panel{x: axis{"capacity, %", asPercent}, y: axis{"", asRows(ticks)}, series: all}), nil
}

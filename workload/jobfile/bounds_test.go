package jobfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArraysAndLinksOfAFileAreBoundedAltogether(t *testing.T) {
	read := func(rows string, begin func(r *Reader)) (jobs int, err error) {
		r := NewReader(strings.NewReader("id,submit,nodes,volume,array,after\n"+rows), CSV)
		begin(r)
		for _, ok := r.Next(); ok; _, ok = r.Next() {
			jobs++
		}
		return jobs, r.Err()
	}
	arrays := func(r *Reader) { r.inArrays = mostInAll - 5 }
	n, err := read("1,0,1,10,3,\n10,0,1,10,2,\n20,0,1,10,,\n", arrays)
	require.NoError(t, err)
	require.Equal(t, 6, n)
	n, err = read("1,0,1,10,3,\n10,0,1,10,3,\n", arrays)
	require.ErrorContains(t, err, "job file:3: array: the arrays up to this one have more than 10000000 tasks altogether")
	require.Equal(t, 3, n)

	links := func(r *Reader) { r.links = mostInAll - 5 }
	n, err = read("1,0,1,10,,1-3\n2,0,1,10,,1-3\n3,0,1,10,,1-2\n", links)
	require.NoError(t, err, "who says so in the same words shares them")
	require.Equal(t, 3, n)
	_, err = read("1,0,1,10,,1-3\n2,0,1,10,,1-3\n3,0,1,10,,7-9\n", links)
	require.ErrorContains(t, err, "job file:4: after: the jobs up to this one come after more than 10000000 others altogether")
}

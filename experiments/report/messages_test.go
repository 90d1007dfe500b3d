package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func logged(log string) map[string]string {
	return map[string]string{"log-easy.txt": log, "jobs-easy.csv": jobsHeader +
		"7,0,1,5,COMPLETED_SUCCESSFULLY,2,4,0,7,0\n3,0,1,5,COMPLETED_SUCCESSFULLY,2,4,1,7,0\n4,0,1,5,COMPLETED_SUCCESSFULLY,2,4,2,7,0\n"}
}

// partOf is what a page holds under a name, nil where it holds nothing.
func partOf(p *page, id string) []byte {
	for _, part := range p.parts {
		if part.id == id {
			return part.text
		}
	}
	return nil
}

func TestEachJobHasTheLastMessagesAboutIt(t *testing.T) {
	var log strings.Builder
	for k := range 103 {
		fmt.Fprintf(&log, "%d.5 broker-1 job 3: try %d\n", k, k)
		if k < 100 {
			fmt.Fprintf(&log, "%d regulator job 7: try %d\n99 a job 5: is in no file\n", k, k)
		}
	}
	c, _ := charted(t, made(t, `"procs": "4", "machine": "grid"`, logged(log.String()+"104 \x1b[31mevil\u202e job 3: <b>\n")))
	all, err := c.messages()
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Zero(t, all[0].Left)
	require.Len(t, all[0].Last, 100)
	require.Equal(t, message{0, "regulator: try 0"}, all[0].Last[0])
	require.Equal(t, 4, all[1].Left)
	require.Len(t, all[1].Last, 100)
	require.Equal(t, message{4.5, "broker-1: try 4"}, all[1].Last[0])
	require.Equal(t, message{104, "\ufffd[31mevil\ufffd: <b>"}, all[1].Last[99])
	require.Equal(t, jobMessages{}, all[2])
}

func TestALogThatCannotBeReadIsNamed(t *testing.T) {
	var page strings.Builder
	require.ErrorContains(t, Write(&page, made(t, `"machine": "grid"`, logged("1 a job 3: x\nnonsense\n"))), "log-easy.txt: line 2: ")
	require.Empty(t, page.String())
}

func TestThePageSaysWhyThereAreNoMessages(t *testing.T) {
	f := made(t, `"procs": "4", "machine": "grid"`, logged(strings.Repeat("1 a job 3: x\n", 500)))
	p, err := newPage(f, maxBytes)
	require.NoError(t, err)
	require.Equal(t, "log-easy.txt", p.meta.Runs[0].Log)
	require.Empty(t, p.meta.Runs[0].Unsaid)

	whole := len(partOf(p, "run-0")) + len(partOf(p, "log-0"))
	p, err = newPage(f, whole)
	require.NoError(t, err)
	require.NotNil(t, partOf(p, "log-0"))
	p, err = newPage(f, whole-1)
	require.NoError(t, err)
	require.Nil(t, partOf(p, "log-0"))
	require.Empty(t, p.meta.Runs[0].Log)
	require.Contains(t, p.meta.Runs[0].Unsaid, "too large: log-easy.txt has it")
	require.Contains(t, p.Warnings, p.meta.Runs[0].Unsaid)

	for machine, want := range map[string]string{"grid": "With log: true in the grid file", "cluster": ""} {
		p, err = newPage(made(t, `"machine": "`+machine+`"`, small), maxBytes)
		require.NoError(t, err)
		require.Nil(t, partOf(p, "log-0"))
		require.True(t, strings.HasPrefix(p.meta.Runs[0].Unsaid, want))
		require.Equal(t, want == "", p.meta.Runs[0].Unsaid == "")
	}
}

func TestMessagesOfAllChartsCountTogether(t *testing.T) {
	f := made(t, `"procs": "4", "machine": "grid"`, logged(strings.Repeat("1 a job 3: x\n", 500)))
	more := *f.Runs[0]
	f.Runs = append(f.Runs, &more)
	p, err := newPage(f, maxBytes)
	require.NoError(t, err)
	whole := 2 * (len(partOf(p, "run-0")) + len(partOf(p, "log-0")))
	for limit, kept := range map[int]bool{whole: true, whole - 1: false} {
		p, err = newPage(f, limit)
		require.NoError(t, err)
		require.Len(t, p.meta.Runs, 2)
		require.NotNil(t, partOf(p, "log-0"))
		require.Equal(t, kept, (partOf(p, "log-1") != nil))
	}
}

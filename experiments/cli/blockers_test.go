package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Four processors. Job 1 has two of them until 10, job 2 wants three for 30 s, job 3 one for
// 60 s, job 4 two for 4 s.
const blockedJobs = "; MaxProcs: 4\n" +
	"1 0 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1\n" +
	"2 1 -1 30 3 -1 -1 3 30 -1 1 7 1 -1 -1 -1 -1 -1\n" +
	"3 2 -1 60 1 -1 -1 1 60 -1 1 8 1 -1 -1 -1 -1 -1\n" +
	"4 3 -1 4 2 -1 -1 2 4 -1 1 8 1 -1 -1 -1 -1 -1\n"

// Whatever stands in the way of a job is named, under every policy: each case is a small world
// in which one thing makes a job wait.
func TestWhatStandsInTheWayOfAJobIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"log.swf":      blockedJobs,
		"dated.swf":    "; UnixStartTime: 1792600000\n; TimeZoneString: UTC\n" + blockedJobs,
		"outages.csv":  "from,to,processors,known\n20,100,3,0\n",
		"bookings.csv": "job_id,submit,start,processors,duration\n900,0,12,3,50\n",
		"price.csv":    "time,value\n0,0.5\n40,0.1\n",
		"nodes.csv":    "id,performance,price\n1,1,1\n2,1,1\n3,1,4\n4,1,4\n",
		"owners.csv":   "node,start,length,known\n1,20,100,0\n2,20,100,0\n",
		"domain.yaml":  "cycle: 50\ninterval: 1000\nnodes: nodes.csv\nlocal: {jobs: owners.csv}\ntrace: {performance: 1, wealth: [2, 2]}\n",
		// On one node a job begins at once only at a price that the finder does not like.
		"cheap.csv":  "id,performance,price\n1,1,1\n2,1,1\n3,1,4\n",
		"busy.csv":   "node,start,length,known\n1,0,100,0\n2,0,120,0\n3,0,60,0\n",
		"cheap.yaml": "cycle: 50\ninterval: 1000\nnodes: cheap.csv\nlocal: {jobs: busy.csv}\ntrace: {performance: 1, wealth: [9, 9]}\n",
		"one.swf":    "; MaxProcs: 3\n1 1 -1 30 1 -1 -1 1 30 -1 1 7 1 -1 -1 -1 -1 -1\n",
		"late.swf":   "; MaxProcs: 4\n1 0 -1 10 4 -1 -1 4 10 -1 1 7 1 -1 -1 -1 -1 -1\n2 100 -1 30 3 -1 -1 3 30 -1 1 7 1 -1 -1 -1 -1 -1\n",
		"grid.csv":   "site,from,to,processors,known\na,20,100,3,0\n",
		"late.csv":   "from,to,processors,known\n5000,5001,1,0\n",
		"ten.csv":    "from,to,processors,known\n5,10,1,0\n",
		"many.csv":   "from,to,processors,known\n20,100,3,0\n" + strings.Repeat("0,1,1,0\n", 20) + strings.Repeat("200,300,1,0\n", 3),
		"ahead.csv":  "from,to,watts\n5,60,500\n",
		"plain.yaml": "cycle: 50\ninterval: 1000\nnodes: nodes.csv\ntrace: {performance: 1, wealth: [9, 9]}\n",
		"tight.yaml": "cycle: 50\ninterval: 1000\nnodes: nodes.csv\ntrace: {performance: 1, wealth: [3, 3]}\n",
		"grid.yaml":  "clusters:\n- {name: a, processors: 4}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	t.Chdir(dir)
	queue := "fcfs,easy,easy-sjbf,easy:reservations=2,easy:window=3,easy:spare=off,conservative,easy:reservations=all"
	for _, c := range []struct {
		name, args, policies, job, want string
	}{
		{"a job that runs", "log.swf", queue, "2", "free before 10 s; job 1 ran, until then at most"},
		{"a plan", "log.swf", "conservative", "3", "started at once"},
		{"a plan", "log.swf", "conservative", "4", "free before 40 s; job 2 was planned from 10 s until then"},
		{"an outage", "log.swf --outages outages.csv", queue, "2", "free before 100 s; in the way was an outage from 20 s until then"},
		{"an outage, with dates", "dated.swf --outages outages.csv", "easy", "2", "free before 100 s (2026-10-21 16:28:20); in the way was an outage from 20 s (2026-10-21 16:27:00) until then"},
		{"an outage before the head", "log.swf --outages outages.csv", "fcfs", "4", "what job 2 waited for: in the way was an outage from 20 s until 100 s"},
		{"a booking", "log.swf --reservations bookings.csv", queue, "2", "free before 62 s; in the way was the booking of job 900 from 12 s until then"},
		{"a power cap", "log.swf --power idle=100:busy=200", "easy:power-cap=700,conservative:power-cap=700", "4", "it could have started at once on nodes that a power cap kept idle\n"},
		{"no power cap", "log.swf --power idle=100:busy=200", "easy:power-cap=700,conservative:power-cap=700", "2", "free before 10 s; job 1 ran, until then at most"},
		{"a power cap on nodes", "log.swf --domain plain.yaml --power idle=100:busy=200", "easy:power-cap=700,conservative:power-cap=700", "4", "it could have started at once on nodes that a power cap kept idle\n"},
		{"no power cap on nodes", "log.swf --domain plain.yaml --power idle=100:busy=200", "easy:power-cap=700,conservative:power-cap=700", "2", "free before 10 s; job 1 ran, until then at most"},
		{"a power cap that keeps dear nodes idle", "log.swf --domain tight.yaml --power idle=100:busy=200", "easy:power-cap=700", "3", "free before 40 s; job 2 ran, until then at most"},
		{"a power cap that keeps dear nodes idle", "log.swf --domain tight.yaml --power idle=100:busy=200", "conservative:power-cap=700", "3", "free before 40 s; job 2 was planned from 10 s until then"},
		{"a power cap that an outage interrupts", "log.swf --power idle=100:busy=200 --outages late.csv", "conservative:power-cap=700", "4", "free before 40 s; it could have started at once on nodes that a power cap kept idle until 5000 s\n"},
		{"a power cap ahead", "log.swf --power idle=100:busy=200:caps=ahead.csv", "fcfs:power-cap=schedule,easy:power-cap=schedule,conservative:power-cap=schedule", "1", "free before 60 s; it could have started at once, but for a power cap that keeps nodes idle from 5 s until then\n"},
		{"a power cap ahead, with dates", "dated.swf --power idle=100:busy=200:caps=ahead.csv", "easy:power-cap=schedule", "1", "but for a power cap that keeps nodes idle from 5 s (2026-10-21 16:26:45) until then\n"},
		{"a power cap ahead on nodes", "log.swf --domain plain.yaml --power idle=100:busy=200:caps=ahead.csv", "easy:power-cap=schedule", "1", "but for a power cap that keeps nodes idle from 5 s until then\n"},
		{"an outage and a job that end together", "log.swf --outages ten.csv", queue, "2", "free before 10 s; in the way was an outage from 5 s until then"},
		{"one of many outages", "log.swf --outages many.csv", queue, "2", "free before 100 s; in the way was an outage from 20 s until then"},
		{"nodes that are off", "late.swf --power idle=100:busy=200:switch-off=1:boot=20:shutdown=2", "fcfs,easy,conservative", "2", "free before 120 s; nodes were off, or booted, until then"},
		{"a price", "log.swf --power price=price.csv", "easy:defer=price/0.2/1h", "2", "put off while the price of electricity is above 0.2; its start was planned for 40 s"},
		{"an owner's job", "log.swf --domain domain.yaml", "fcfs,easy,easy-sjbf,conservative,easy:finder=min-cost", "2", "free before 120 s; in the way was an owner's own job from 20 s until then"},
		{"an owner's job, by the cycle", "log.swf --domain domain.yaml", "css,bsf:k=1,batch-slicer:k=2", "2", "waited for its reservation, which began at 120 s; in the way was an owner's own job from 20 s until then"},
		{"a plan, by the cycle", "log.swf --domain domain.yaml", "css,bsf:k=1", "3", "waited for its reservation, which began at 150 s; job 2 was planned from 120 s until then"},
		{"a cheaper window", "one.swf --domain cheap.yaml", "easy:finder=min-cost", "1", "a window was planned for it at 100 s: an earlier one was free, and this one was preferred"},
		{"an outage on a grid", "log.swf --grid grid.yaml --outages grid.csv", "distributed", "2", "free before 100 s; in the way was an outage from 20 s until then"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range strings.Split(c.policies, ",") {
				out := filepath.Join(t.TempDir(), "r")
				args := append([]string{"simulate"}, strings.Fields(c.args)...)
				succeed(t, append(args, "--policy", p, "--decisions", "--out", out)...)
				require.Contains(t, call("explain", out, c.job).stdout+"\n", c.want, p)
			}
		})
	}
}

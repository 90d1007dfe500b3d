package results_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gridslot/gridslot/metrics/results"
)

// The mean wait of each user under each policy that a folder holds.
func Example() {
	folder, err := results.Open(threeJobs())
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range folder.Runs {
		jobs, err := run.Jobs()
		if err != nil {
			log.Fatal(err)
		}
		sum, n := map[int64]float64{}, map[int64]float64{}
		for i := range jobs {
			if j := &jobs[i]; j.Ran() {
				sum[j.User] += j.Wait().Seconds()
				n[j.User]++
			}
		}
		fmt.Printf("%s: user 7 waits %.0f s, user 8 %.0f s; all %.0f s\n",
			run.Policy, sum[7]/n[7], sum[8]/n[8], run.Summary("mean_wait"))
	}
	// Output:
	// fcfs: user 7 waits 50 s, user 8 120 s; all 73 s
}

// threeJobs is a folder that a simulation of three jobs could have left.
func threeJobs() (dir string) {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{
		"manifest.json": `{"runs": [{"policy": "fcfs", "files": ["jobs-fcfs.csv"]}]}`,
		"summary.csv":   "policy,jobs,mean_wait\nfcfs,3,73.33\n",
		"jobs-fcfs.csv": `job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time,user_id
1,0,4,300,COMPLETED_SUCCESSFULLY,0,120,7
2,0,1,300,COMPLETED_SUCCESSFULLY,120,180,8
3,20,2,300,COMPLETED_SUCCESSFULLY,120,400,7
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

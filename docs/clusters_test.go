package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// The examples of clusters, on the page about studies, are run as their batch system would: with
// each index, and a program in the place of gridslot that takes its words down.

func clusterBlocks(t *testing.T, language string) []string {
	return pageBlocks(t, "guides/studies.md", language)
}

func pageBlocks(t *testing.T, page, language string) []string {
	var found []string
	for _, b := range blocks(read(t, page)) {
		if b.language == language {
			found = append(found, b.text)
		}
	}
	require.NotEmpty(t, found)
	return found
}

func bash(t *testing.T) string {
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	return path
}

// recorder is a folder with a program gridslot that takes its words down.
type recorder struct{ dir string }

func newRecorder(t *testing.T) recorder {
	r := recorder{t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "gridslot"), []byte("#!/bin/sh\nprintf '%s\\n' \"$*\" >>\"${0%/*}/words\"\n"), 0o777))
	return r
}

// run runs a script, in which the folder stands for /shared.
func (r recorder) run(t *testing.T, script string, environment ...string) {
	cmd := exec.Command(bash(t), "-c", r.here(script))
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func (r recorder) here(text string) string { return strings.ReplaceAll(text, "/shared", r.dir) }

// eachOnce holds what was recorded against all of n parts, each once.
func (r recorder) eachOnce(t *testing.T, n int) {
	seen := map[int]bool{}
	for line := range strings.Lines(read(t, filepath.Join(r.dir, "words"))) {
		words := strings.Fields(line)
		require.Equal(t, []string{"sweep", "shard"}, words[:2])
		shard, err := sweep.ParseShard(words[2])
		require.NoError(t, err)
		require.Equal(t, n, shard.Of)
		require.False(t, seen[shard.Index], "part %d twice", shard.Index)
		seen[shard.Index] = true
		require.Equal(t, []string{r.here("/shared/study.yaml"), "--out", r.here("/shared/results"), "--workers", "1"}, words[3:])
	}
	require.Len(t, seen, n)
}

func TestShellExamplesAreShell(t *testing.T) {
	for _, text := range slices.Concat(clusterBlocks(t, "sh"), clusterBlocks(t, "pbs")) {
		cmd := exec.Command(bash(t), "-n")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s%s", text, out)
	}
}

func TestTheTasksOfPBSAreAllPartsOnce(t *testing.T) {
	script := clusterBlocks(t, "pbs")[0]
	array := regexp.MustCompile(`(?m)^#PBS -J (\d+)-(\d+)$`).FindStringSubmatch(script)
	require.NotNil(t, array)
	first, err := strconv.Atoi(array[1])
	require.NoError(t, err)
	last, err := strconv.Atoi(array[2])
	require.NoError(t, err)
	r := newRecorder(t)
	for i := first; i <= last; i++ {
		r.run(t, script, fmt.Sprintf("PBS_ARRAY_INDEX=%d", i))
	}
	r.eachOnce(t, last)
}

func TestTheTasksOfKubernetesAreAllPartsOnce(t *testing.T) {
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			Completions, Parallelism int
			CompletionMode           string `yaml:"completionMode"`
			BackoffLimitPerIndex     int    `yaml:"backoffLimitPerIndex"`
			Template                 struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Name, Image   string
						Command, Args []string
						Resources     struct{ Requests, Limits map[string]string }
						VolumeMounts  []struct {
							Name      string
							MountPath string `yaml:"mountPath"`
						} `yaml:"volumeMounts"`
					}
					Volumes []struct {
						Name  string
						Claim struct {
							ClaimName string `yaml:"claimName"`
						} `yaml:"persistentVolumeClaim"`
					}
				}
			}
		}
	}
	require.NoError(t, yaml.UnmarshalWithOptions([]byte(clusterBlocks(t, "yml")[0]), &job, yaml.DisallowUnknownField()))
	require.Equal(t, "batch/v1 Job Indexed", job.APIVersion+" "+job.Kind+" "+job.Spec.CompletionMode)
	pod := job.Spec.Template.Spec
	require.Equal(t, "Never", pod.RestartPolicy, "a limit for each index needs it")
	require.Equal(t, pod.Volumes[0].Name, pod.Containers[0].VolumeMounts[0].Name)
	require.Equal(t, []string{"/bin/sh", "-c"}, pod.Containers[0].Command)
	r := newRecorder(t)
	for i := range job.Spec.Completions {
		r.run(t, pod.Containers[0].Args[0], fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
	}
	r.eachOnce(t, job.Spec.Completions)
}

func TestTheTasksOfHTCondorAreAllPartsOnce(t *testing.T) {
	r := newRecorder(t)
	r.eachOnce(t, r.condor(t, clusterBlocks(t, "condor")[0]))
}

func TestTheTasksOfHTCondorWithoutAFolderInCommonAreAllPartsOnce(t *testing.T) {
	r := newRecorder(t)
	text := strings.ReplaceAll(clusterBlocks(t, "condor")[1], "= gridslot\n", "= /shared/gridslot\n")
	text = strings.ReplaceAll(text, " study.yaml --out part.$(Process) ", " /shared/study.yaml --out /shared/results ") // each its own
	r.eachOnce(t, r.condor(t, text))
}

// condor runs the tasks that a file of HTCondor queues, and tells how many they are.
func (r recorder) condor(t *testing.T, text string) (queued int) {
	commands := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch name, value, found := strings.Cut(line, "="); {
		case strings.HasPrefix(line, "#"):
		case found:
			require.Zero(t, queued, "%s stands behind queue", line)
			commands[strings.TrimSpace(name)] = strings.TrimSpace(value)
		default:
			n, err := strconv.Atoi(strings.TrimPrefix(line, "queue "))
			require.NoError(t, err, line)
			queued = n
		}
	}
	require.Equal(t, "$(Process) + 1", commands["I"])
	arguments := strings.Trim(commands["arguments"], `"`)
	for process := range queued {
		r.run(t, commands["executable"]+" "+strings.ReplaceAll(arguments, "$INT(I)", strconv.Itoa(process+1)))
	}
	return queued
}

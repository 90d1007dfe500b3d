package workflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/workflow"
)

// A diamond in both forms of the format: a -> b, c -> d.
const (
	early = `{
  "name": "diamond", "schemaVersion": "1.4", "wms": {"name": "any"},
  "workflow": {"executedAt": "03-23-21T06:04:36Z", "tasks": [
    {"name": "a_1", "id": "ID1", "type": "compute", "runtimeInSeconds": 10.5, "children": ["b_2", "c_3"], "files": [
      {"link": "input", "name": "raw", "sizeInBytes": 900},
      {"link": "output", "name": "x", "sizeInBytes": 1000}, {"link": "output", "name": "y", "sizeInBytes": 50}]},
    {"name": "b_2", "id": "ID2", "type": "compute", "runtimeInSeconds": 20, "cores": 2, "parents": ["a_1"], "children": ["d_4"], "files": [
      {"link": "input", "name": "x", "sizeInBytes": 1000}, {"link": "input", "name": "y", "sizeInBytes": 50}, {"link": "output", "name": "z", "sizeInBytes": 200}]},
    {"name": "c_3", "id": "ID3", "type": "compute", "runtimeInSeconds": 5, "parents": ["a_1"], "children": ["d_4"], "files": [
      {"link": "input", "name": "y", "sizeInBytes": 50}]},
    {"name": "d_4", "id": "ID4", "type": "compute", "runtimeInSeconds": 0, "parents": ["b_2", "c_3"], "children": [], "files": [
      {"link": "input", "name": "z", "sizeInBytes": 200}]}
  ]}
}`
	late = `{
  "name": "diamond", "schemaVersion": "1.5",
  "workflow": {
    "specification": {"tasks": [
      {"name": "a_1", "id": "ID1", "parents": [], "children": ["ID2", "ID3"], "inputFiles": ["raw"], "outputFiles": ["x", "y"]},
      {"name": "b_2", "id": "ID2", "parents": ["ID1"], "children": ["ID4"], "inputFiles": ["x", "y"], "outputFiles": ["z"]},
      {"name": "c_3", "id": "ID3", "parents": ["ID1"], "children": ["ID4"], "inputFiles": ["y"]},
      {"name": "d_4", "id": "ID4", "parents": ["ID2", "ID3"], "children": [], "inputFiles": ["z"]}
    ], "files": [{"id": "raw", "sizeInBytes": 900}, {"id": "x", "sizeInBytes": 1000}, {"id": "y", "sizeInBytes": 50}, {"id": "z", "sizeInBytes": 200}]},
    "execution": {"makespanInSeconds": 36, "executedAt": "2020-03-20T15:19:28-08:00", "tasks": [
      {"id": "ID4", "runtimeInSeconds": 0},
      {"id": "ID1", "runtimeInSeconds": 10.5}, {"id": "ID2", "runtimeInSeconds": 20, "coreCount": 2}, {"id": "ID3", "runtimeInSeconds": 5, "coreCount": 1}
    ]}
  }
}`
)

func diamond() *workflow.Workflow {
	s := des.Second
	return &workflow.Workflow{Name: "diamond", Tasks: []workflow.Task{
		{ID: "ID1", Name: "a_1", Runtime: 10*s + s/2, Cores: 1},
		{ID: "ID2", Name: "b_2", Runtime: 20 * s, Cores: 2, Parents: []workflow.Edge{{Task: 0, Bytes: 1050}}},
		{ID: "ID3", Name: "c_3", Runtime: 5 * s, Cores: 1, Parents: []workflow.Edge{{Task: 0, Bytes: 50}}},
		{ID: "ID4", Name: "d_4", Cores: 1, Parents: []workflow.Edge{{Task: 1, Bytes: 200}, {Task: 2}}},
	}}
}

func TestBothFormsOfTheFormatAreTheSameWorkflow(t *testing.T) {
	for _, text := range []string{early, late, strings.Replace(late, "1.5", "1.6", 1)} {
		w, err := workflow.Read("flow.json", strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, diamond(), w)
	}
}

func TestWhatOnlyParentsSayOfTheirChildrenCounts(t *testing.T) {
	for _, text := range []string{
		strings.ReplaceAll(early, `"parents"`, `"was"`), strings.ReplaceAll(early, `"children"`, `"was"`),
		strings.ReplaceAll(late, `"parents"`, `"was"`), strings.ReplaceAll(late, `"children"`, `"was"`),
	} {
		w, err := workflow.Read("flow.json", strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, diamond(), w)
	}
}

func TestTasksBecomeJobsThatWaitForTheirParents(t *testing.T) {
	for rate, c := range map[float64]struct {
		think []des.Time
		ranks []des.Time
	}{
		0:   {[]des.Time{0, 0, 0, 0}, []des.Time{30*des.Second + des.Second/2, 20 * des.Second, 5 * des.Second, 0}},
		100: {[]des.Time{10*des.Second + des.Second/2, des.Second / 2, 2 * des.Second, 0}, []des.Time{43 * des.Second, 22 * des.Second, 5 * des.Second, 0}},
	} {
		jobs, err := diamond().Jobs(rate)
		require.NoError(t, err)
		require.Len(t, jobs, 4)
		require.Empty(t, jobs[0].After)
		require.Equal(t, []entity.Dependency{{Job: 1, OK: true, Think: c.think[0]}}, jobs[1].After)
		require.Equal(t, []entity.Dependency{{Job: 1, OK: true, Think: c.think[1]}}, jobs[2].After)
		require.Equal(t, []entity.Dependency{{Job: 2, OK: true, Think: c.think[2]}, {Job: 3, OK: true, Think: c.think[3]}}, jobs[3].After)
		for i, j := range jobs {
			require.Equal(t, int64(i+1), j.ID)
			require.Equal(t, diamond().Tasks[i].Runtime, j.Runtime)
			require.Equal(t, diamond().Tasks[i].Cores, j.Request.Nodes)
			require.Equal(t, c.ranks[i], j.Extra.(workflow.Member).UpwardRank(), i)
		}
		require.Equal(t, des.Tick, jobs[3].Request.Length, "a reservation of no length would hold nothing")
	}
	_, err := diamond().Jobs(-1)
	require.ErrorContains(t, err, "bytes a second")
}

func TestWhatIsWrongIsSaidWithFileAndField(t *testing.T) {
	change := func(text, from, to string) string {
		require.Contains(t, text, from)
		return strings.Replace(text, from, to, 1)
	}
	for want, text := range map[string]string{
		`flow.json:3: `: change(early, `"workflow":`, `"workflow"`),
		`flow.json:3: workflow.tasks.runtimeInSeconds: want a number, not text`:                               change(strings.ReplaceAll(early, "\n    ", " "), `"runtimeInSeconds": 10.5`, `"runtimeInSeconds": "x"`),
		`flow.json: workflow: this is no workflow in the format of WfCommons`:                                 `{"policies": []}`,
		`flow.json: schemaVersion: want one of 1.4, 1.5, 1.6, not "1.0"`:                                      change(early, "1.4", "1.0"),
		`flow.json: workflow.tasks: there are no tasks`:                                                       `{"name": "n", "schemaVersion": "1.4", "workflow": {}}`,
		`flow.json: workflow.execution: it is not there`:                                                      change(late, `"execution"`, `"was"`),
		`flow.json: workflow.execution.tasks[0].id: the specification has no task "ID9"`:                      change(late, `{"id": "ID4", "runtime`, `{"id": "ID9", "runtime`),
		`flow.json: workflow.specification.tasks[3].runtimeInSeconds: nothing tells how long task ID4`:        change(late, `{"id": "ID4", "runtimeInSeconds": 0},`, ``),
		`flow.json: workflow.tasks[1].runtimeInSeconds: want a time of 0 to 1e+12 s, not -20`:                 change(early, `"runtimeInSeconds": 20`, `"runtimeInSeconds": -20`),
		`flow.json: workflow.tasks[1].coreCount: want a number above 0`:                                       change(early, `"cores": 2`, `"cores": 0`),
		`flow.json: workflow.tasks[1].parents[0]: there is no task "q"`:                                       change(early, `"parents": ["a_1"]`, `"parents": ["q"]`),
		`flow.json: workflow.tasks[0].children[1]: there is no task "q"`:                                      change(early, `["b_2", "c_3"]`, `["b_2", "q"]`),
		`flow.json: workflow.tasks[1].id: "ID1" is the id of task 0, too`:                                     change(early, `"id": "ID2"`, `"id": "ID1"`),
		`flow.json: workflow.tasks[0].files[0].link: want input or output, not "in"`:                          change(early, `"link": "input"`, `"link": "in"`),
		`flow.json: workflow.tasks[0].files[0].sizeInBytes: want 0 or more, not -1`:                           change(early, `"sizeInBytes": 900`, `"sizeInBytes": -1`),
		`flow.json: workflow.specification.files[0].sizeInBytes: want 0 or more, not -1`:                      change(late, `"sizeInBytes": 900`, `"sizeInBytes": -1`),
		`flow.json: workflow: tasks wait for each other in a circle, before task ID1 or through it`:           change(early, `"children": ["b_2"`, `"parents": ["d_4"], "children": ["b_2"`),
		`flow.json: workflow: tasks wait for each other in a circle, before task ID2 or through it`:           change(early, `"parents": ["a_1"], "children": ["d_4"]`, `"parents": ["b_2"], "children": ["d_4"]`),
		`flow.json: workflow.specification.tasks[0].id: it is not given`:                                      change(late, `{"name": "a_1", "id": "ID1", `, `{"na": "a_1", "idd": "ID1", `),
		`flow.json: workflow.specification.tasks[1].runtimeInSeconds: want a time of 0 to 1e+12 s, not 2e+20`: change(late, `"runtimeInSeconds": 20`, `"runtimeInSeconds": 2e20`),
	} {
		_, err := workflow.Read("flow.json", strings.NewReader(text))
		require.ErrorContains(t, err, want)
		var e *workload.FileError
		require.ErrorAs(t, err, &e)
	}
}

func TestANameThatTwoTasksHaveNamesNone(t *testing.T) {
	text := strings.Replace(early, `"name": "c_3"`, `"name": "b_2"`, 1)
	_, err := workflow.Read("flow.json", strings.NewReader(text))
	require.ErrorContains(t, err, `workflow.tasks[3].parents[0]: there is no task "b_2"`)
}

func TestAPartOfACoreIsOne(t *testing.T) {
	w, err := workflow.Read("flow.json", strings.NewReader(strings.Replace(early, `"cores": 2`, `"cores": 1.5`, 1)))
	require.NoError(t, err)
	require.Equal(t, diamond(), w)
}

func TestAPathTellsAWorkflow(t *testing.T) {
	for path, want := range map[string]bool{"a.json": true, "a.json.gz": true, "a.json.zst": true, "a.jsonl": false, "a.swf.gz": false, "json": false} {
		require.Equal(t, want, workflow.IsPath(path), path)
	}
}

func TestOpenReadsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.json")
	require.NoError(t, os.WriteFile(path, []byte(late), 0o666))
	w, err := workflow.Open(path)
	require.NoError(t, err)
	require.Equal(t, diamond(), w)
	_, err = workflow.Open(path + "x")
	require.ErrorContains(t, err, "opening the workflow")
}

func FuzzRead(f *testing.F) {
	f.Add(early)
	f.Add(late)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := workflow.Read("flow.json", strings.NewReader(text))
		if err != nil {
			return
		}
		jobs, err := w.Jobs(0)
		require.NoError(t, err)
		require.Len(t, jobs, len(w.Tasks))
	})
}

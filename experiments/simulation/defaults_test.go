package simulation

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// inBrackets is the default at the end of a parameter's text.
var inBrackets = regexp.MustCompile(`\(([^()]*)\)[^()]*$`)

// notValues are defaults that are told in words, since no value of the parameter says them.
var notValues = []string{
	"all", "any", "anywhere", "exactly", "never", "no", "no cap", "nobody", "none", "submission", "rank",
	"the mean", "the queue's", "the run's", "the same as finder", "until none are found", "amp; heft: min-finish-exact",
	"eleven such templates", "as in the first line", "the one of this name, if there is one", "20m; of gaps 1h", "as many as the job asks for",
}

// goesWith is what a parameter is given beside, where it cannot be given alone.
var goesWith = map[string][2]string{"time": {"t-limit", "share"}, "owners": {"b-limit", "share"}}

// zeroIsDefault are parameters whose fields are 0 where nothing is given, and whose values
// no simulation of this test uses: the packages test what 0 stands for.
var zeroIsDefault = []string{"batch-slicer:k=1", "bsf:k=1", "rla:first=1", "hybrid:first=1",
	"sacct:zone=UTC", "csv:zone=UTC", "csv:times=s", "csv:durations=s", "google:size=1", "philly:zone=UTC", "fdata:zone=UTC", "pm100:zone=UTC"}

// shown is a value with all that can be compared: of functions only whether there are any.
func shown(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Func, reflect.Chan:
		return fmt.Sprint(v.IsNil())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return v.Elem().Type().String() + " " + shown(v.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			fmt.Fprintf(&b, "%s:%s ", v.Type().Field(i).Name, shown(v.Field(i)))
		}
		return "{" + b.String() + "}"
	case reflect.Slice:
		var b strings.Builder
		for i := range v.Len() {
			b.WriteString(shown(v.Index(i)) + " ")
		}
		return "[" + b.String() + "]"
	}
	return fmt.Sprint(v)
}

// behaviour is what a run of the sample's first jobs does under a policy, or with a
// predictor: the fingerprint of all its events. It is 0 for other things.
func behaviour(t *testing.T, v any) uint64 {
	p, isPolicy := v.(entity.Policy)
	predictor, isPredictor := v.(entity.Predictor)
	if isPredictor {
		p = backfill.EASY{}
	} else if !isPolicy {
		return 0
	}
	log, err := workload.ReadSWF(traces.Sample())
	require.NoError(t, err)
	sim := des.New(des.Config{Fingerprint: true})
	m := entity.NewMetascheduler(sim, plan.NewCluster(128), p)
	m.Predictor = predictor
	m.SubmitAll(log.Jobs())
	require.NoError(t, sim.Run(t.Context()))
	return sim.Fingerprint()
}

// defaultsOf holds the texts of a table's defaults to what is made if nothing is given, and
// returns how many it compared.
func defaultsOf[T any](t *testing.T, table policy.Table[T]) (compared int) {
	read := func(spec string) (any, string, error) {
		c, err := table.Parse(spec)
		if err != nil {
			return nil, "", err
		}
		v := reflect.ValueOf(&c.Value).Elem()
		if v.Kind() == reflect.Func && v.Type().NumIn() == 0 {
			v = v.Call(nil)[0] // what a strategy's maker makes
		}
		return c.Value, shown(v), nil
	}
	for _, e := range table {
		for _, p := range e.Params {
			m := inBrackets.FindStringSubmatch(p.Text)
			if m == nil || slices.Contains(notValues, m[1]) {
				continue
			}
			none := e.Name
			if beside, ok := goesWith[p.Name]; ok && strings.Contains(p.Text, beside[0]) {
				none = policy.Spec(none, beside)
			}
			nothing, want, err := read(none)
			if err != nil {
				continue // something else must be given
			}
			spec := policy.Spec(none, [2]string{p.Name, m[1]})
			given, got, err := read(spec)
			require.NoError(t, err, "the default in %q is no value", p.Text)
			if compared++; want != got && !slices.Contains(zeroIsDefault, spec) {
				did := behaviour(t, given) // once: a predictor keeps state
				require.NotZero(t, did, "%s is told as the default", spec)
				require.Equal(t, behaviour(t, nothing), did, "%s is told as the default", spec)
			}
		}
	}
	return compared
}

// Every default that a text tells is read as a value and compared with nothing given.
func TestTheDefaultsThatTextsTellAreThose(t *testing.T) {
	tables := Standard()
	queue := len(tables.Policies)
	compared := []int{
		defaultsOf(t, tables.Policies),
		defaultsOf(t, tables.Nodes[queue:]),
		defaultsOf(t, tables.Strategies),
		defaultsOf(t, tables.Sources),
		defaultsOf(t, tables.Predictors),
		defaultsOf(t, tables.Correctors),
		defaultsOf(t, tables.Formats),
		defaultsOf(t, Surveys()),
		defaultsOf(t, SpeedUps()),
		defaultsOf(t, VictimRules()),
	}
	t.Log(compared)
	for i, least := range []int{20, 25, 10, 3, 12, 1, 12, 5, 10, 1} {
		require.GreaterOrEqual(t, compared[i], least)
	}
	require.Zero(t, defaultsOf(t, tables.Finders)+defaultsOf(t, tables.Outages), "these have none yet")
}

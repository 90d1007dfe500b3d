package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("GRIDSLOT_TEST_ROLE"); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(string) error { return errors.New("no role") }

func units(n int) []sweep.Unit {
	all := make([]sweep.Unit, n)
	for i := range all {
		all[i] = sweep.Unit{Index: i, Key: fmt.Sprintf("%032x", i), Case: sweep.Case{Seed: uint64(i), Params: []sweep.Param{{Name: "policy", Value: "easy"}}}}
	}
	return all
}

// rows is what a unit gives.
func rowOf(u sweep.Unit) sweep.Row {
	return sweep.Row{{Name: "x", Value: fmt.Sprint(u.Seed * 3)}}
}

type store struct {
	mu   sync.Mutex
	rows map[string]sweep.Outcome
	n    int
}

func (s *store) put(u sweep.Unit, o sweep.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if was, ok := s.rows[u.Key]; ok && !slices.Equal(was.Row, o.Row) {
		return errors.New("differs")
	}
	s.rows[u.Key] = o
	return nil
}

func serverAt(t testing.TB, c embedded.Config) *embedded.Server {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	s, err := embedded.Start(c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func workOf(n int) (*sweep.Work, *store) {
	s := &store{rows: map[string]sweep.Outcome{}}
	return &sweep.Work{
		Units: units(n), Store: s.put, Basis: sweep.Basis{Build: "b"},
		Do:   func(_ context.Context, u sweep.Unit) sweep.Outcome { return sweep.Outcome{Row: rowOf(u)} },
		Tell: func(f string, a ...any) { fmt.Printf(f+"\n", a...) },
	}, s
}

func TestEmptyUnits(t *testing.T) {
	server := serverAt(t, embedded.Config{})
	w, s := workOf(20000)
	start := time.Now()
	require.NoError(t, Engine{Server: Server{URL: server.URL()}, Workers: 2}.Run(context.Background(), w))
	fmt.Println(time.Since(start))
	require.Len(t, s.rows, 20000)
}

package entity_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// says predicts by a job's number, in seconds.
type says map[int64]des.Time

func (says) Name() string                                { return "says" }
func (p says) Predict(j entity.Known) des.Time           { return p[j.ID()] * des.Second }
func (p says) Observe(entity.JobEventKind, entity.Known) {}

// by corrects by so many seconds.
type by des.Time

func (by) Name() string                      { return "by" }
func (c by) Correct(j entity.Known) des.Time { return j.Prediction() + des.Time(c)*des.Second }

// longer is a job that asks for more than it takes, in seconds.
func longer(id int64, submit, runtime, request des.Time, nodes int) *entity.Job {
	j := job(id, submit, runtime, nodes)
	j.Request.Length = request * des.Second
	return j
}

// story is what happened, a line an event.
type story []string

func (s *story) Observe(e entity.JobEvent) {
	line := fmt.Sprintf("%v %v %d", e.Time, e.Kind, e.Run.ID)
	if e.Kind == entity.JobPromised {
		line += fmt.Sprintf(" for %v", e.Start)
	}
	if e.Kind == entity.JobCorrected {
		line += fmt.Sprintf(" to %v", e.Run.Prediction())
	}
	if e.Kind != entity.JobSubmitted {
		*s = append(*s, line)
	}
}

// foresee is a world in which jobs are planned by what p says, and corrected by c.
func foresee(processors int, policy entity.Policy, p entity.Predictor, c entity.Corrector, jobs ...*entity.Job) (*world, *story) {
	told := &story{}
	w := newWorld(processors, policy, told)
	w.meta.Predictor, w.meta.Corrector = p, c
	w.meta.SubmitAll(slices.Values(jobs))
	return w, told
}

func TestAJobIsPlannedByItsPredictionAndRunsOnPastIt(t *testing.T) {
	w, told := foresee(4, backfill.EASY{}, says{1: 10, 2: 10}, by(5),
		longer(1, 0, 18, 60, 3), longer(2, 0, 5, 5, 4), longer(3, 0, 10, 10, 1))
	w.run(t)
	require.Equal(t, &story{
		"0 started 1", "0 started 3", // it ends by the shadow time that is predicted
		"10 corrected 1 to 15", "10 finished 3", "15 corrected 1 to 20",
		"18 finished 1", "18 started 2", "23 finished 2",
	}, told)
}

func TestACorrectionThatIsNoneMeansTheRequest(t *testing.T) {
	for name, c := range map[string]entity.Corrector{"nobody": nil, "less": by(-3), "the same": by(0)} {
		t.Run(name, func(t *testing.T) {
			w, told := foresee(1, backfill.FCFS{}, says{1: 10}, c, longer(1, 0, 40, 30, 1))
			w.run(t)
			require.Equal(t, &story{"0 started 1", "10 corrected 1 to 30", "30 killed 1"}, told)
		})
	}
}

func TestACorrectionAboveTheRequestIsPlannedAndTheJobIsKilledAtItsRequest(t *testing.T) {
	w, told := foresee(2, backfill.Conservative{}, says{1: 10}, by(100), longer(1, 0, 40, 30, 2), job(2, 12, 5, 1))
	w.run(t)
	require.Equal(t, &story{
		"0 started 1", "10 corrected 1 to 110", "12 promised 2 for 110", "30 killed 1", "30 started 2", "35 finished 2",
	}, told)
}

func TestAJobThatEndsWhenItsPredictionDoesIsNotCorrected(t *testing.T) {
	w, told := foresee(1, backfill.FCFS{}, says{1: 10, 2: 0}, by(5), longer(1, 0, 10, 30, 1), longer(2, 0, 10, 10, 1))
	w.run(t)
	require.Equal(t, &story{"0 started 1", "10 finished 1", "10 started 2", "20 finished 2"}, told)
}

func TestAPredictionAboveTheRequestIsPlannedAndTheJobIsKilledAtItsRequest(t *testing.T) {
	w, told := foresee(2, backfill.Conservative{}, says{1: 50}, nil, longer(1, 0, 40, 30, 2), job(2, 0, 5, 1))
	w.run(t)
	require.Equal(t, &story{"0 started 1", "0 promised 2 for 50", "30 killed 1", "30 started 2", "35 finished 2"}, told)
}

func TestOfReservationsInTheWayTheLatestIsWithdrawnAndTheOthersStand(t *testing.T) {
	// 1 has 2 of 4 processors. Behind it 2 and 3 are planned from 10 on, and 4 from 12.
	w, told := foresee(4, backfill.Conservative{NoCompression: true}, says{1: 10, 2: 20, 3: 20, 4: 20, 5: 10, 6: 12}, by(20),
		longer(5, 0, 10, 10, 1), longer(6, 0, 12, 12, 1), longer(1, 0, 25, 60, 2),
		longer(2, 0, 20, 20, 1), longer(3, 0, 20, 20, 1), longer(4, 0, 20, 20, 1))
	w.run(t)
	require.Equal(t, &story{
		"0 started 5", "0 started 6", "0 started 1",
		"0 promised 2 for 10", "0 promised 3 for 10", "0 promised 4 for 10",
		"10 corrected 1 to 30", "10 withdrawn 3", "10 withdrawn 4", "10 finished 5",
		"10 promised 3 for 12", "10 promised 4 for 30", "10 started 2",
		"12 finished 6", "12 started 3", "25 finished 1", "30 finished 2", "30 started 4", "32 finished 3", "50 finished 4",
	}, told)
}

func TestWhoLosesAReservationIsPlannedAnewAtOnceInEveryPass(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		w, told := foresee(1, backfill.Conservative{}, says{1: 10, 2: 5}, by(5), longer(1, 0, 12, 60, 1), longer(2, 0, 5, 5, 1))
		w.meta.Pass = pass
		w.run(t)
		require.Equal(t, &story{
			"0 started 1", "0 promised 2 for 10", "10 corrected 1 to 15", "10 withdrawn 2", "10 promised 2 for 15",
			"12 finished 1", "12 started 2", "17 finished 2",
		}, told, "%v", pass)
	}
}

func TestWhoIsPlannedForLaterYieldsBeforeHeBegins(t *testing.T) {
	w, told := foresee(4, backfill.Conservative{}, says{1: 10, 2: 20}, by(30),
		longer(1, 0, 35, 60, 2), longer(2, 0, 20, 20, 2), longer(3, 0, 5, 5, 4))
	w.run(t)
	require.Equal(t, &story{
		"0 started 1", "0 started 2", "0 promised 3 for 20", "10 corrected 1 to 40", "10 withdrawn 3", "10 promised 3 for 40",
		"20 finished 2", "35 finished 1", "35 started 3", "40 finished 3",
	}, told)
}

func TestWhoFitsBesideALaterShadowStartsWithTheNextArrival(t *testing.T) {
	w, told := foresee(4, backfill.EASY{}, says{1: 10, 2: 5, 3: 12, 4: 5}, by(20),
		longer(1, 0, 20, 60, 3), longer(2, 1, 5, 5, 4), longer(3, 2, 12, 12, 1), longer(4, 11, 5, 5, 2))
	w.meta.Pass = entity.PassEvent // corrections alone bring no round
	w.run(t)
	require.Contains(t, *told, "11 started 3")
}

func TestWhoCameLaterYieldsThoughHeBeginsFirstElsewhere(t *testing.T) {
	// At 50, 3 begins beside 2; 1 runs on over both, and 3 is the one that begins later.
	w, told := foresee(4, backfill.Conservative{NoCompression: true}, says{1: 10, 4: 50}, nil,
		longer(1, 0, 70, 80, 2), longer(4, 0, 50, 50, 1), longer(2, 1, 60, 60, 2), longer(3, 2, 20, 20, 2))
	w.run(t)
	require.Equal(t, "10 corrected 1 to 80", (*told)[4])
	require.Equal(t, "10 withdrawn 2", (*told)[5], "there is room for one processor, and 2 begins at 10")
}

func TestWhatIsFixedStandsAndTheJobIsCutOffThere(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		w, told := foresee(2, backfill.Conservative{}, says{1: 10}, by(5), longer(1, 0, 25, 60, 2))
		w.meta.Pass = pass
		_, err := w.meta.Withhold(entity.Where{Count: 1}, 17*des.Second, 30*des.Second)
		require.NoError(t, err)
		w.run(t)
		require.Equal(t, &story{
			"0 started 1", "10 corrected 1 to 15", "15 corrected 1 to 20", "17 killed 1",
		}, told)
	}
}

func TestAJobRunsOnWhereWhatIsFixedIsGoneByThen(t *testing.T) {
	w, told := foresee(2, backfill.Conservative{}, says{1: 10}, by(20), longer(1, 0, 25, 60, 2))
	hold, err := w.meta.Withhold(entity.Where{Count: 1}, 17*des.Second, 30*des.Second)
	require.NoError(t, err)
	w.sim.At(12*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { hold.Drop() }), 0)
	w.run(t)
	require.Equal(t, &story{"0 started 1", "10 corrected 1 to 30", "17 corrected 1 to 30", "25 finished 1"}, told)
}

func TestAJobWithADeadlineIsPlannedByItsRequest(t *testing.T) {
	j := longer(1, 0, 25, 40, 2)
	j.Request.Deadline = 40 * des.Second
	w, told := foresee(2, backfill.Conservative{}, says{1: 10}, nil, j, job(2, 0, 5, 1))
	w.run(t)
	require.Equal(t, &story{"0 started 1", "0 promised 2 for 40", "25 finished 1", "25 started 2", "30 finished 2"}, told)
}

func TestAfterAPreemptionWhatIsPredictedIsLessWhatIsDone(t *testing.T) {
	w, told := foresee(2, backfill.Conservative{}, says{1: 10}, by(5), longer(1, 0, 25, 60, 2))
	lengths := []des.Time{}
	look := func(at des.Time, keep des.Time) {
		w.sim.At(at*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			for r := range w.meta.RunningJobs() {
				require.True(t, w.meta.Preempt(r, keep))
				lengths = append(lengths, r.Request.Length, r.Limit())
			}
		}), 0)
	}
	look(4, des.Forever)  // 6 of 10 s are left
	look(7, 0)            // and still are
	look(14, des.Forever) // corrected at 13; it has done 11 of 15
	w.run(t)
	s := des.Second
	require.Equal(t, []des.Time{6 * s, 56 * s, 6 * s, 56 * s, 4 * s, 49 * s}, lengths)
	require.Equal(t, &story{
		"0 started 1", "4 requeued 1", "4 started 1", "7 requeued 1", "7 started 1",
		"13 corrected 1 to 15", "14 requeued 1", "14 started 1", "18 corrected 1 to 20", "23 corrected 1 to 25", "28 finished 1",
	}, told)
}

func TestCheckpointsAndSetUpAreOnTopOfWhatIsPredicted(t *testing.T) {
	w, told := foresee(1, backfill.FCFS{}, says{1: 10}, by(7), longer(1, 0, 20, 60, 1))
	w.meta.Checkpoints = entity.Checkpoints{Interval: 4 * des.Second, Cost: des.Second}
	w.sim.At(5*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range w.meta.RunningJobs() {
			require.Equal(t, 12*des.Second, r.Request.Length, "10 with 2 checkpoints")
			require.True(t, w.meta.Preempt(r, r.Saved()))
			require.True(t, w.meta.SetUp(r, 3*des.Second))
			require.Equal(t, 10*des.Second, r.Request.Length, "set-up, 6, and 1 checkpoint")
			require.Equal(t, 72*des.Second, r.Limit(), "set-up, 56, and 13 checkpoints")
		}
	}), 0)
	w.run(t)
	require.Equal(t, &story{
		"0 started 1", "5 requeued 1", "5 started 1",
		"15 corrected 1 to 17", "24 corrected 1 to 24", // 13 of work, 3 checkpoints, 3 of set-up
		"27 finished 1",
	}, told)
}

func TestAShapeIsPlannedByAsLargeAPartOfItsEstimate(t *testing.T) {
	s := des.Second
	j := longer(1, 0, 40, 80, 2)
	j.Shapes = []entity.Shape{{Nodes: 4, Length: 40 * s, Runtime: 24 * s}}
	w, told := foresee(4, backfill.Conservative{Shape: entity.Largest}, says{1: 20}, by(10), j)
	w.sim.At(1*s, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range w.meta.RunningJobs() {
			require.Equal(t, []des.Time{10 * s, 40 * s, 10 * s, 20 * s}, []des.Time{r.Request.Length, r.Limit(), r.Prediction(), r.FirstPrediction()})
		}
	}), 0)
	w.sim.At(15*s, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range w.meta.RunningJobs() {
			require.True(t, w.meta.Preempt(r, 0))
			require.Equal(t, []des.Time{40 * s, 80 * s, 40 * s}, []des.Time{r.Request.Length, r.Limit(), r.Prediction()}, "twice as long as in the other shape")
		}
	}), 0)
	w.run(t)
	require.Equal(t, &story{"0 started 1", "10 corrected 1 to 20", "15 requeued 1", "15 started 1", "35 corrected 1 to 30", "39 finished 1"}, told)
}

func TestWhatIsPredictedScalesWithAResizeAsTheEstimateDoes(t *testing.T) {
	s := des.Second
	j := longer(1, 0, 40, 80, 2)
	j.Shapes = []entity.Shape{{Nodes: 4, Length: 40 * s, Runtime: 20 * s}}
	w, told := foresee(4, backfill.FCFS{}, says{1: 30}, by(5), job(2, 0, 5, 2), j)
	w.sim.At(10*s, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range w.meta.RunningJobs() {
			require.NoError(t, w.meta.Resize(r, 4, 2*s))
			require.Equal(t, []des.Time{12 * s, 37 * s, 15 * s}, []des.Time{r.Request.Length, r.Limit(), r.Prediction()}, "10 of 20 are left, 35 of 70, and 2 to resize")
		}
	}), 0)
	w.run(t)
	require.Equal(t, &story{"0 started 2", "0 started 1", "5 finished 2", "10 resized 1", "22 corrected 1 to 20", "27 finished 1"}, told)
}

func TestAfterAResizeThePredictionBeforeItIsOutlivedNoMore(t *testing.T) {
	j := longer(1, 0, 40, 80, 2)
	j.Shapes = []entity.Shape{{Nodes: 4, Length: 40 * des.Second, Runtime: 20 * des.Second}}
	w, told := foresee(4, backfill.FCFS{}, says{1: 16}, by(5), job(2, 0, 5, 2), j)
	w.at(10, func() {
		for r := range w.meta.RunningJobs() {
			require.NoError(t, w.meta.Resize(r, 4, 2*des.Second))
		}
	})
	w.run(t)
	require.Equal(t, &story{"0 started 2", "0 started 1", "5 finished 2", "10 resized 1", "15 corrected 1 to 13", "20 corrected 1 to 18", "25 corrected 1 to 23", "27 finished 1"}, told)
}

func TestWhatIsPredictedAfterTwoResizesIsLessWhatWasDoneBeforeBoth(t *testing.T) {
	j := longer(1, 0, 40, 80, 2)
	j.Shapes = []entity.Shape{{Nodes: 4, Length: 40 * des.Second, Runtime: 20 * des.Second}}
	w, told := foresee(4, backfill.FCFS{}, says{1: 30}, nil, job(2, 0, 5, 2), j)
	resize := func(nodes int, length, prediction des.Time) func() {
		return func() {
			for r := range w.meta.RunningJobs() {
				require.NoError(t, w.meta.Resize(r, nodes, 0))
				require.Equal(t, []des.Time{length * des.Second, prediction * des.Second}, []des.Time{r.Request.Length, r.Prediction()})
			}
		}
	}
	w.at(10, resize(4, 10, 15))
	w.at(15, resize(2, 10, 30)) // a third was done, and then another one
	w.run(t)
	require.Equal(t, &story{"0 started 2", "0 started 1", "5 finished 2", "10 resized 1", "15 resized 1", "25 corrected 1 to 80", "35 finished 1"}, told)
}

func TestARunThatMayPassItsRequestIsBelievedToGoOnForAsLongAgain(t *testing.T) {
	w, told := foresee(2, backfill.Conservative{}, says{1: 10}, nil, longer(1, 0, 50, 15, 1))
	w.meta.Overrun = entity.OverrunExtend
	w.run(t)
	require.Equal(t, &story{"0 started 1", "10 corrected 1 to 15", "15 corrected 1 to 30", "30 corrected 1 to 60", "50 finished 1"}, told)
}

func TestTheTrueRuntimeIsNeverCorrected(t *testing.T) {
	w, told := foresee(4, backfill.EASY{}, entity.Exact{}, nil, longer(1, 0, 18, 60, 3), longer(2, 0, 70, 30, 4))
	w.run(t)
	require.Equal(t, &story{"0 started 1", "18 finished 1", "18 started 2", "48 killed 2"}, told)
}

// nodesWorld is a world of named nodes.
func nodesWorld(t require.TestingT, policy entity.Policy, nodes []*entity.Node, observers ...entity.Observer) *world {
	domain, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	w := &world{sim: des.New(des.Config{}), seen: &validate.Validator{}}
	w.meta = entity.NewMetascheduler(w.sim, domain, policy, append([]entity.Observer{w.seen}, observers...)...)
	return w
}

func TestOnNamedNodesTheFastestTellsAndAllTasksRunOn(t *testing.T) {
	told := &story{}
	nodes := []*entity.Node{{ID: 1, Perf: 1, Price: 3}, {ID: 2, Perf: 2, Price: 5}}
	w := nodesWorld(t, backfill.EASY{}, nodes, told)
	w.meta.Predictor, w.meta.Corrector = says{1: 10}, by(8)
	r := w.meta.Submit(longer(1, 0, 25, 60, 2))
	w.at(6, func() { // 5 of 10 planned were over on node 2
		ends := map[int]des.Time{}
		for _, task := range r.Reservation.Window.Tasks {
			ends[task.Node.ID] = task.End / des.Second
		}
		require.Equal(t, map[int]des.Time{1: 18, 2: 9}, ends)
		require.Equal(t, float64(18*3+9*5), r.Reservation.Window.Cost)
	})
	w.run(t)
	require.Equal(t, &story{"0 started 1", "5 corrected 1 to 18", "9 corrected 1 to 26", "25 finished 1"}, told)
	require.Equal(t, []des.Time{25 * des.Second, 12500 * des.Second / 1000}, sortedByNode(r))
	require.Equal(t, float64(26*3+13*5), r.Reservation.Window.Cost, "what it had reserved in the end")
}

// sortedByNode are r's ends in the order of its nodes.
func sortedByNode(r *entity.Run) []des.Time {
	ends := map[int]des.Time{}
	var ids []int
	for i, task := range r.Reservation.Window.Tasks {
		ends[task.Node.ID] = r.Ends()[i]
		ids = append(ids, task.Node.ID)
	}
	slices.Sort(ids)
	var list []des.Time
	for _, id := range ids {
		list = append(list, ends[id])
	}
	return list
}

func TestOnNamedNodesWorkIsKeptAcrossCorrections(t *testing.T) {
	told := &story{}
	w := nodesWorld(t, backfill.EASY{}, []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}}, told)
	w.meta.Predictor, w.meta.Corrector = says{1: 10}, by(8)
	r := w.meta.Submit(longer(1, 0, 25, 60, 2))
	w.at(7, func() {
		require.True(t, w.meta.Preempt(r, des.Forever))
		require.Equal(t, []des.Time{7 * des.Second, 11 * des.Second, 53 * des.Second}, []des.Time{r.Done(), r.Request.Length, r.Limit()})
	})
	w.run(t)
	require.Equal(t, &story{
		"0 started 1", "5 corrected 1 to 18", "7 requeued 1", "7 started 1", // 11 are planned, and 18 left
		"12.5 corrected 1 to 26", "25 finished 1",
	}, told)
}

func TestOnNamedNodesWhatIsFixedOnOneNodeCutsOffTheJob(t *testing.T) {
	for _, pins := range []int{1, 2, 3} { // of equal nodes one more can be taken as long as one is free
		told := &story{}
		nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}, {ID: 3, Perf: 1}}
		w := nodesWorld(t, backfill.Conservative{}, nodes, told)
		w.meta.Predictor = says{1: 10}
		r := w.meta.Submit(longer(1, 0, 25, 60, 2))
		for i := range pins {
			_, err := w.meta.Withhold(entity.NodeAt(2-i), 17*des.Second, 30*des.Second)
			require.NoError(t, err)
		}
		w.run(t)
		if pins == 1 {
			require.Equal(t, &story{"0 started 1", "10 corrected 1 to 60", "25 finished 1"}, told)
			continue
		}
		require.Equal(t, &story{"0 started 1", "10 corrected 1 to 60", "17 killed 1"}, told)
		require.Equal(t, entity.ReasonPrediction, r.Reason)
	}
}

// An observer who hears, as an instant begins, that the one before is over may have a job
// start at once. Whoever outlives a prediction then is looked at first: the job that starts
// has other nodes, or the one that runs on is cut off, and no node is given twice.
func TestWhoStartsAsAnInstantBeginsHasNothingOfWhoRunsOn(t *testing.T) {
	for size, want := range map[int]*story{
		2: {"0 started 1", "10 corrected 1 to 60", "10 started 2", "13 finished 2", "25 finished 1"},
		1: {"0 started 1", "10 killed 1", "10 started 2", "13 finished 2"},
	} {
		for _, named := range []bool{false, true} {
			told := &story{}
			var w *world
			booked := false
			meddler := watches{over: func(des.Time) {
				if booked || w.sim.Now() == 0 {
					return
				}
				booked = true
				j := longer(2, 10, 3, 3, 1)
				window, ok := w.meta.Plan().Find(j.Request, w.sim.Now(), w.sim.Now())
				require.True(t, ok, "by the plan job 1 ends now")
				hold, err := w.meta.Tentative(j, window)
				require.NoError(t, err)
				_, err = hold.Confirm()
				require.NoError(t, err)
			}, observe: func(entity.JobEvent) {}}
			if named {
				nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}}
				w = nodesWorld(t, backfill.EASY{}, nodes[:size], told, meddler)
			} else {
				w = newWorld(size, backfill.EASY{}, told, meddler)
			}
			w.meta.Predictor = says{1: 10}
			w.meta.Submit(longer(1, 0, 25, 60, 1))
			w.run(t)
			require.Equal(t, want, told, "%d nodes, named %t", size, named)
		}
	}
}

// wild predicts and corrects at random, and predicts jobs that wait anew.
type wild struct {
	random *rand.Rand
	meta   *entity.Metascheduler
	seen   map[int64]entity.Known
}

func (*wild) Name() string                     { return "wild" }
func (p *wild) Attach(m *entity.Metascheduler) { p.meta = m }
func (p *wild) Predict(j entity.Known) des.Time {
	p.seen[j.Seq()] = j
	return des.Time(p.random.IntN(60)-5) * des.Second
}
func (p *wild) Correct(j entity.Known) des.Time {
	return j.Prediction() + des.Time(p.random.IntN(15)-1)*des.Second
}
func (p *wild) Observe(what entity.JobEventKind, j entity.Known) {
	if _, ended := j.Ran(); ended != (what == entity.JobFinished || what == entity.JobKilled) {
		panic("a runtime is told before its end, or not at it")
	}
	if p.meta != nil && what == entity.JobFinished && p.random.IntN(3) == 0 {
		if k, ok := p.seen[p.random.Int64N(j.Seq()+1)]; ok {
			p.meta.PredictAgain(k)
		}
	}
}

// needed looks whether each reservation that a correction has withdrawn had to go.
type needed struct {
	t         *rapid.T
	meta      *entity.Metascheduler
	corrected des.Time
	round     int64
	count     int
}

func (n *needed) Attach(m *entity.Metascheduler) { n.meta, n.corrected = m, -1 }
func (n *needed) Observe(e entity.JobEvent) {
	switch {
	case e.Kind == entity.JobCorrected || e.Kind == entity.JobKilled && e.Run.Reason == entity.ReasonPrediction:
		n.corrected, n.round = e.Time, n.meta.Rounds()
	case e.Kind == entity.JobWithdrawn && n.corrected == e.Time && n.round == n.meta.Rounds():
		n.count++
		again := entity.NewRun(e.Run.Job, 0)
		_, err := n.meta.Plan().Reserve(again, e.Run.Reservation.Window)
		require.Error(n.t, err, "%v was withdrawn, and its window %v is free", e.Run, e.Run.Reservation.Window)
	}
}

// Whatever is predicted, a job runs to its end or its request, or until what is fixed
// needs what it has; nothing is had twice, and nobody loses a reservation for nothing.
func TestPredictionsChangeWhenJobsRunAndNotHowLong(t *testing.T) {
	policies := []entity.Policy{
		backfill.FCFS{}, backfill.EASY{}, backfill.EASY{Candidates: backfill.ShortestFirst},
		backfill.EASY{Reservations: backfill.AllReservations}, backfill.EASY{Order: backfill.ShortestFirst},
		backfill.Conservative{}, backfill.Conservative{NoCompression: true}, backfill.Conservative{Order: backfill.ShortestFirst},
	}
	withdrawn, cut, corrected := 0, 0, 0
	inAWorld := func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "size")
		policy := rapid.SampledFrom(policies).Draw(t, "policy")
		p := &wild{random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), seen: map[int64]entity.Known{}}
		need := &needed{t: t}
		var runs []*entity.Run
		note := observe(func(e entity.JobEvent) {
			if e.Kind == entity.JobSubmitted {
				runs = append(runs, e.Run)
			}
		})
		var w *world
		named := rapid.Bool().Draw(t, "named")
		var nodes []*entity.Node
		if named {
			for id := range size {
				nodes = append(nodes, &entity.Node{ID: id, Perf: float64(rapid.IntRange(1, 3).Draw(t, "perf")) / 2})
			}
			w = nodesWorld(t, policy, nodes, need, note)
		} else {
			w = newWorld(size, policy, need, note)
		}
		w.meta.Predictor = p
		w.meta.Pass = rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach}).Draw(t, "pass")
		w.meta.Overrun = rapid.SampledFrom([]entity.Overrun{entity.OverrunKill, entity.OverrunExtend, entity.OverrunRaise}).Draw(t, "overrun")
		if rapid.Bool().Draw(t, "checkpoints") {
			w.meta.Checkpoints = entity.Checkpoints{Interval: 7 * des.Second, Cost: 2 * des.Second}
		}
		var submit des.Time
		for i := range rapid.IntRange(1, 25).Draw(t, "jobs") {
			submit += des.Time(rapid.IntRange(0, 10).Draw(t, "gap"))
			j := longer(int64(i+1), submit, des.Time(rapid.IntRange(0, 50).Draw(t, "runtime")), des.Time(rapid.IntRange(1, 50).Draw(t, "request")), rapid.IntRange(1, size).Draw(t, "nodes"))
			w.meta.Submit(j)
		}
		var fixed []des.Time
		for range rapid.IntRange(0, 3).Draw(t, "fixed") {
			from := des.Time(rapid.IntRange(0, 100).Draw(t, "from")) * des.Second
			until := from + des.Time(rapid.IntRange(1, 20).Draw(t, "for"))*des.Second
			where := entity.Where{Count: 1}
			if named {
				where = entity.NodeAt(0)
			}
			if _, err := w.meta.Withhold(where, from, until); err == nil { // or it is taken already
				fixed = append(fixed, from)
			}
		}
		for range rapid.IntRange(0, 4).Draw(t, "preemptions") {
			keep := rapid.SampledFrom([]des.Time{0, 3 * des.Second, des.Forever}).Draw(t, "keep")
			setUp := des.Time(rapid.IntRange(0, 3).Draw(t, "set-up")) * des.Second
			w.at(des.Time(rapid.IntRange(0, 100).Draw(t, "at")), func() {
				for r := range w.meta.RunningJobs() {
					if w.meta.Preempt(r, keep); setUp > 0 {
						w.meta.SetUp(r, setUp)
					}
					return
				}
			})
		}
		require.NoError(t, w.sim.Run(context.Background()))
		require.NoError(t, w.seen.Report(true).Err())
		for _, r := range runs {
			corrected += r.Corrections()
			if r.State == entity.Killed && r.Reason == entity.ReasonPrediction {
				require.Contains(t, fixed, r.Finish, "%v was cut off for nothing", r)
				cut++
				continue
			}
			wants := r.Job.Runtime
			if w.meta.Overrun == entity.OverrunKill || w.meta.Overrun == entity.OverrunExtend && named {
				wants = min(wants, r.Job.Request.Length)
			}
			worked := r.Done() + r.Latest().Work
			if r.State == entity.Finished {
				worked = r.Runtime
			}
			require.Equal(t, wants, worked, "%v, %v", r, r.State)
		}
		withdrawn += need.count
	}
	for range 10 { // a hundred worlds have some ten that are cut off, and so none at times
		if rapid.Check(t, inAWorld); withdrawn > 0 && cut > 0 && corrected > 0 {
			break
		}
	}
	require.Positive(t, withdrawn)
	require.Positive(t, cut)
	require.Positive(t, corrected)
}

// watched starts nothing before the second from, and looks at the queue, all of it and the
// part that it has made.
type watched struct {
	from des.Time
	part *entity.Queue
	look func(q *entity.Queue)
}

func (*watched) Name() string { return "watched" }
func (p *watched) Schedule(r *entity.Round) {
	if p.part == nil {
		p.part = r.Queue.Part()
	}
	for _, j := range r.Fresh() {
		if j.ID%2 == 0 {
			p.part.Take(j)
		}
	}
	p.look(r.Queue)
	p.look(p.part)
	if r.Now >= p.from*des.Second {
		backfill.FCFS{}.Schedule(r)
	}
}

func TestWhatIsPredictedAgainIsKnownInEveryOrderAndPartOfTheQueue(t *testing.T) {
	byLength := func(r *entity.Run, _ des.Time) float64 { return float64(r.Request.Length) }
	orders := []entity.Order{
		entity.Submission, {Name: "length", Key: byLength}, {Name: "length now", Key: byLength, Dynamic: true}, {Key: byLength},
	}
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		p := &wild{random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), seen: map[int64]entity.Known{}}
		policy := &watched{from: 30}
		w := newWorld(3, policy)
		p.meta, w.meta.Predictor = w.meta, p
		policy.look = func(q *entity.Queue) {
			jobs := slices.Collect(q.By(entity.Submission, w.sim.Now()).All())
			require.Len(t, jobs, q.Len())
			for _, o := range orders {
				want := slices.Clone(jobs)
				if o.Name != entity.Submission.Name {
					slices.SortStableFunc(want, func(a, b *entity.Run) int { return int(a.Request.Length - b.Request.Length) })
				}
				require.Equal(t, want, slices.Collect(q.By(o, w.sim.Now()).All()), "by %s", o.Name)
			}
		}
		var runs []*entity.Run
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			runs = append(runs, w.meta.Submit(longer(int64(i+1), des.Time(rapid.IntRange(0, 20).Draw(t, "submit")), 9, 40, rapid.IntRange(1, 3).Draw(t, "nodes"))))
		}
		for second := range des.Time(40) {
			again := rapid.SampledFrom(runs).Draw(t, "again")
			w.at(second, func() {
				before := again.Request.Length
				if w.meta.PredictAgain(entity.KnownOf(again)) {
					changed++
					require.Equal(t, entity.Waiting, again.State)
					require.NotEqual(t, before, again.Request.Length)
				} else {
					require.Equal(t, before, again.Request.Length)
				}
				w.meta.Changed(0, 0)
			})
		}
		require.NoError(t, w.sim.Run(context.Background()))
		require.NoError(t, w.seen.Report(true).Err())
	})
	require.Positive(t, changed)
}

func TestWhoIsPredictedShorterStartsWithTheNextArrival(t *testing.T) {
	p := says{1: 20, 2: 20, 3: 30, 4: 20}
	w, told := foresee(4, backfill.EASY{}, p, nil, longer(1, 0, 20, 60, 3), longer(2, 0, 20, 60, 4), longer(3, 0, 10, 60, 1), longer(4, 6, 20, 60, 4))
	w.meta.Pass = entity.PassEvent
	w.at(5, func() {
		for r := range w.meta.Queue().By(entity.Submission, 5*des.Second).All() {
			if p[3] = 10; r.ID == 3 {
				require.True(t, w.meta.PredictAgain(entity.KnownOf(r)))
				break
			}
		}
	})
	w.run(t)
	require.Contains(t, *told, "6 started 3")
}

func TestWhoIsNoLongerPredictedIsPlannedByTheWholeRequest(t *testing.T) {
	p := says{1: 20}
	w, _ := foresee(1, backfill.FCFS{}, p, nil)
	r := w.meta.Submit(longer(1, 0, 30, 60, 1))
	w.at(10, func() {
		require.True(t, w.meta.Preempt(r, des.Forever))
		require.Equal(t, 10*des.Second, r.Request.Length)
		p[1] = 0
		require.True(t, w.meta.PredictAgain(entity.KnownOf(r)))
		require.Equal(t, []des.Time{60 * des.Second, 50 * des.Second}, []des.Time{r.Prediction(), r.Request.Length})
	})
	w.run(t)
}

func TestWhoeverIsPlannedBehindAJobThatOutlivesItsEstimateIsPlannedAnew(t *testing.T) {
	w, told := foresee(4, backfill.Conservative{}, nil, nil,
		longer(1, 0, 15, 10, 2), longer(2, 0, 5, 5, 4), longer(3, 0, 5, 5, 4), longer(4, 0, 5, 5, 4))
	w.meta.Overrun = entity.OverrunExtend
	w.run(t)
	var withdrawn []string
	for _, line := range *told {
		if strings.Contains(line, "withdrawn") {
			withdrawn = append(withdrawn, line)
		}
	}
	require.Equal(t, []string{"10 withdrawn 2", "10 withdrawn 3", "10 withdrawn 4"}, withdrawn, "4, whose window begins at 20, too")
	require.Contains(t, *told, "15 started 2")
}

// asking asks for another prediction of a job when one starts: while the policy decides.
type asking struct {
	says
	meta *entity.Metascheduler
	of   *entity.Run
}

func (p *asking) Attach(m *entity.Metascheduler) { p.meta = m }
func (p *asking) Observe(what entity.JobEventKind, _ entity.Known) {
	if what == entity.JobStarted && p.of.State == entity.Waiting {
		p.says[p.of.ID] = 10
		p.meta.PredictAgain(entity.KnownOf(p.of))
	}
}

func TestWhoIsAskedForWhileThePolicyDecidesIsPredictedAgainAfterwards(t *testing.T) {
	p := &asking{says: says{1: 20, 2: 30}}
	w, _ := foresee(1, backfill.FCFS{}, p, nil, longer(1, 0, 20, 60, 1))
	p.of = w.meta.Submit(longer(2, 0, 10, 60, 1))
	w.at(1, func() { require.Equal(t, 10*des.Second, p.of.Prediction()) })
	w.run(t)
}

func TestAPredictionIsSaidAgainOnlyOfJobsThatWait(t *testing.T) {
	p := says{1: 10, 2: 10, 3: 10}
	w, _ := foresee(2, backfill.Conservative{}, p, nil, longer(1, 0, 20, 30, 2), longer(2, 0, 20, 30, 2))
	other := newWorld(2, backfill.FCFS{})
	var runs []*entity.Run
	for k := range w.meta.Queue().By(entity.Submission, 0).All() {
		runs = append(runs, k)
	}
	w.at(1, func() {
		for r := range w.meta.RunningJobs() {
			runs = append(runs, r)
		}
		runs = append(runs, w.meta.Queue().First())
		p[1], p[2] = 15, 15
		require.Len(t, runs, 2)
		for _, r := range runs {
			require.False(t, w.meta.PredictAgain(entity.KnownOf(r)), "%v is %v", r, r.State)
			require.False(t, other.meta.PredictAgain(entity.KnownOf(r)))
			require.Equal(t, 10*des.Second, r.Prediction())
		}
	})
	w.run(t)
}

// What is predicted of a job costs next to nothing beside the job.
func TestPredictionsAllocateLittle(t *testing.T) {
	allocated := func(p entity.Predictor) float64 {
		return testing.AllocsPerRun(3, func() {
			w := newWorld(4, backfill.EASY{})
			w.meta.Predictor = p
			for i := range 2000 {
				w.meta.Submit(job(int64(i), des.Time(2*i), 5, 1+i%4)) // so that both make one schedule
			}
			require.NoError(t, w.sim.Run(context.Background()))
		})
	}
	plain, exact := allocated(nil), allocated(entity.Exact{})
	require.Less(t, (exact-plain)/2000, 0.1, "%v allocations, and %v with predictions", plain, exact)
}

// A batch planner knows of predictions by what jobs ask for; who loses a window to one that
// outlives its prediction is part of the next batch.
func TestABatchIsPlannedByPredictionsAndWhoLosesAWindowIsInTheNext(t *testing.T) {
	told := &story{}
	w := nodesWorld(t, &cyclic.Policy{}, []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}}, told)
	w.meta.Plan().(*plan.Domain).Interval = 200 * des.Second
	w.meta.Cycle = 10 * des.Second
	w.meta.Predictor, w.meta.Corrector = says{1: 12, 2: 12}, by(30)
	w.meta.Submit(longer(1, 0, 40, 60, 2))
	w.meta.Submit(longer(2, 0, 12, 12, 2))
	w.run(t)
	require.Equal(t, &story{
		"0 started 1", "0 promised 2 for 12",
		"6 corrected 1 to 42", "6 withdrawn 2", "10 promised 2 for 42", // 12 on the fast node are over at 6
		"40 finished 1", "42 started 2", "54 finished 2",
	}, told)
}

func TestTheRequestOfAJobThatHasKeptWorkIsTheWholeOfIt(t *testing.T) {
	w, told := foresee(1, backfill.FCFS{}, says{1: 10}, nil, longer(1, 0, 25, 60, 1))
	w.at(4, func() {
		for r := range w.meta.RunningJobs() {
			require.True(t, w.meta.Preempt(r, des.Forever))
		}
	})
	w.run(t)
	require.Equal(t, &story{"0 started 1", "4 requeued 1", "4 started 1", "10 corrected 1 to 60", "25 finished 1"}, told)
}

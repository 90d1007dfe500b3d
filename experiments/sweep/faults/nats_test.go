//go:build unix

package faults

import (
	"math/rand/v2"
	"testing"
)

const inNATS = "./experiments/sweep/nats "

var natsTable = []fault{
	{nats, "kill -9 of a worker within a run", 6, 0, "its run is done by another", nil, inNATS + "TestWorkersThatAreKilledManyTimesLoseNothing"},
	{nats, "kill -9 of the server (`nats-server`, and one of the program's own), which is started again", 6, 0, "the study goes on by itself", nil, inNATS + "TestAServerThatIsKilledAndStartedAgainLosesNothing"},
	{nats, "kill -9 of the program beside a server of its own", 2, 0, "workers go on; the same command takes in what they have done", nil, inNATS + "TestACoordinatorThatIsKilledGoesOnWhereItWas"},
	{nats, "kill -9 of the program with the server that is within it, at random instants", 15, 1, "the same command goes on", killWithServer, ""},
	{nats, "a worker stopped (SIGSTOP) past its deadline, which goes on later", 1, 0, "its run is done by another; of two equal results there is one", nil, inNATS + "TestAWorkerThatIsStoppedPastItsDeadlineAndGoesOn"},
	{nats, "a run that takes longer than a worker may be silent", 1, 0, "it is done once: who works sends heartbeats", nil, inNATS + "TestAUnitLongerThanAWorkerMayBeSilentIsCarriedOutOnce"},
	{nats, "kill -9 of a server that comes back without what it had; results purged on the server", 2, 0, "they are done again", nil, inNATS + "TestAServerThatComesBackWithoutWhatItHadLosesNothing TestResultsThatTheServerLosesAreMadeAgain"},
	{nats, "a full store of the server, and one that the study does not fit into", 3, 0, "workers wait for room and keep their results; the study is refused, and told how much it needs", nil, inNATS + "TestAFullStoreLosesNothing TestAStoreWithoutRoomForTheStudyIsSaid"},
	{nats, "a full disk under the study's folder", 1, 0, "the study ends; results wait on the server", nil, inNATS + "TestAFolderThatTakesNothingEndsTheStudyAndKeepsResults"},
	{nats, "runs that kill each worker that tries them", 2, 0, "set aside after `--tries`, as `lost`, and named", nil, inNATS + "TestAUnitThatKillsItsWorkersIsSetAsideAndNamed"},
	{nats, "a worker told to end (SIGTERM) within a run", 2, 0, "it gives the run back, which counts as no try", nil, inNATS + "TestAWorkerThatIsToldToEndGivesItsUnitBackAndThatIsNoTry"},
	{nats, "a second program for the same study; a worker of another build; a wrong token", 3, 0, "refused", nil, inNATS + "TestASecondCoordinatorOfAStudyIsRefused TestAWorkerOfAnotherVersionIsRefused TestAWrongTokenIsRefused"},
}

func killWithServer(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	w.args = append(w.args, "--engine", "nats", "--tries", "1000")
	w.struck(times, func(p *process, _ string) { p.kill(t) })
}

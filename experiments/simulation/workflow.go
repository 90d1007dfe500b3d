package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/workflow"
)

// This file runs workflows: a trace that ends in .json.

// isWorkflow reports whether a trace is a workflow: by its ending, if it is no source and its
// content is not that of a log.
func (t *Tables) isWorkflow(trace string) bool { return workflow.IsPath(trace) && t.isFile(trace) }

// openWorkflow opens the scenario's workload as a workflow. All of its jobs are in memory.
func (sc *Scenario) openWorkflow() (*jobs, error) {
	path := sc.Workload.Trace
	w, err := workflow.Open(path)
	if err != nil {
		return nil, err
	}
	made, err := w.Jobs(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	all := make([]entity.Job, len(made))
	for i, j := range made {
		all[i] = *j
	}
	from := inMemory(filepath.Base(path), all)
	from.requests, from.wait = true, true
	from.sum = func() (string, error) {
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:]), err
	}
	return from, nil
}

// StatesRequests reports whether the jobs of a trace state their own requests. The jobs of a job
// file and of a workflow do.
func (t *Tables) StatesRequests(trace string) bool { return t.isJobFile(trace) || t.isWorkflow(trace) }

// checkWorkflow refuses options about the records of a log, and a part of a workflow: without some
// of its jobs others could not start.
func (sc *Scenario) checkWorkflow() error {
	names := []string{"procs-from", "estimates", "missing-estimate", "load", "feedback", "where", "first", "skip", "shift", "sort"}
	return sc.refuse(names, "it is about a log, and %s is a workflow, which is run as it is", filepath.Base(sc.Workload.Trace))
}

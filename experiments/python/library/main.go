// Library is package learn as a shared library with the calling convention of C, for other
// languages. From the checkout, with a C compiler at hand:
//
//	go build -buildmode=c-shared -o libgridslot.so ./experiments/python/library
//
// Handles are numbers from 1 on. A function that fails returns 0, or -1 where 0 is a success, and
// gridslot_error tells why. All memory that the worlds write to belongs to the caller, who keeps
// it until gridslot_close.
package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/gridslot/gridslot/experiments/learn"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// library has the objects that callers hold by handles.
var library struct {
	sync.Mutex
	handles int
	logs    map[int]*learn.Log
	worlds  map[int]*learn.Worlds
	failure string // the latest
}

// fail remembers why a call has failed.
func fail(err error) {
	library.Lock()
	defer library.Unlock()
	library.failure = err.Error()
}

// hold keeps a value, and returns its handle.
func hold[T any](all *map[int]T, v T) C.int {
	library.Lock()
	defer library.Unlock()
	if *all == nil {
		*all = map[int]T{}
	}
	library.handles++
	(*all)[library.handles] = v
	return C.int(library.handles)
}

// held is the value of a handle, or false with a failure.
func held[T any](all *map[int]T, handle C.int) (T, bool) {
	library.Lock()
	defer library.Unlock()
	v, ok := (*all)[int(handle)]
	if !ok {
		library.failure = fmt.Sprintf("there is no handle %d: it has been closed, or there never was one", int(handle))
	}
	return v, ok
}

// gridslot_error is why the latest call has failed. The caller gives the text to gridslot_free.
//
//export gridslot_error
func gridslot_error() *C.char {
	library.Lock()
	defer library.Unlock()
	return C.CString(library.failure)
}

// gridslot_free frees a text that a function here has returned.
//
//export gridslot_free
func gridslot_free(text *C.char) { C.free(unsafe.Pointer(text)) }

// gridslot_log reads a log in the Standard Workload Format, "" is the sample, and returns a
// handle; 0 where it fails.
//
//export gridslot_log
func gridslot_log(path *C.char) C.int {
	open := func() (*workload.Trace, error) { return workload.OpenSWF(C.GoString(path)) }
	if C.GoString(path) == "" {
		open = func() (*workload.Trace, error) { return workload.ReadSWF(traces.Sample()) }
	}
	trace, err := open()
	if err == nil {
		var log *learn.Log
		if log, err = learn.Read(trace); err == nil {
			return hold(&library.logs, log)
		}
	}
	fail(err)
	return 0
}

// gridslot_task tells how many rows and columns an observation of a task has; there are as
// many actions as rows. The names of the columns, with commas between them, are the result,
// which the caller gives to gridslot_free; NULL where there is no such task.
//
//export gridslot_task
func gridslot_task(name *C.char, rows, columns *C.int) *C.char {
	task, err := learn.ParseTask(C.GoString(name))
	if err != nil {
		fail(err)
		return nil
	}
	*rows, *columns = C.int(task.Rows()), C.int(len(task.Features()))
	return C.CString(strings.Join(task.Features(), ","))
}

// gridslot_worlds makes worlds on memory of the caller, and returns a handle; 0 where it
// fails.
//
//export gridslot_worlds
func gridslot_worlds(log C.int, task, measure *C.char, n, jobs, threads C.int, from, to C.double, seed C.uint64_t,
	observations *C.float, masks *C.uint8_t, actions *C.int32_t, rewards *C.float, done *C.uint8_t, scores, baselines *C.double) C.int {
	l, ok := held(&library.logs, log)
	if !ok {
		return 0
	}
	s := learn.Settings{Log: l, Worlds: int(n), Jobs: int(jobs), Threads: int(threads), From: float64(from), To: float64(to), Seed: uint64(seed)}
	var err error
	if s.Task, err = learn.ParseTask(C.GoString(task)); err == nil {
		s.Measure, err = learn.ParseMeasure(C.GoString(measure))
	}
	if err == nil && n < 1 {
		err = fmt.Errorf("want at least 1 world, not %d", int(n))
	}
	if err != nil {
		fail(err)
		return 0
	}
	s.Buffers = &learn.Buffers{
		Observations: numbers[float32](unsafe.Pointer(observations), s.Worlds*s.Task.Observation()),
		Masks:        numbers[uint8](unsafe.Pointer(masks), s.Worlds*s.Task.Actions()),
		Actions:      numbers[int32](unsafe.Pointer(actions), s.Worlds),
		Rewards:      numbers[float32](unsafe.Pointer(rewards), s.Worlds),
		Done:         numbers[uint8](unsafe.Pointer(done), s.Worlds),
		Scores:       numbers[float64](unsafe.Pointer(scores), s.Worlds),
		Baselines:    numbers[float64](unsafe.Pointer(baselines), s.Worlds),
	}
	v, err := learn.New(s)
	if err != nil {
		if v != nil {
			v.Close()
		}
		fail(err)
		return 0
	}
	return hold(&library.worlds, v)
}

// numbers is memory of the caller as a slice.
func numbers[T any](at unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(at), n) }

// gridslot_step carries out the actions, and runs each world to its next decision. It returns 0,
// or -1 where it fails.
//
//export gridslot_step
func gridslot_step(worlds C.int) C.int {
	v, ok := held(&library.worlds, worlds)
	if !ok {
		return -1
	}
	if err := v.Step(); err != nil {
		fail(err)
		return -1
	}
	return 0
}

// gridslot_close ends worlds, which write to no memory of the caller any more, or gives up a log.
//
//export gridslot_close
func gridslot_close(handle C.int) {
	library.Lock()
	v := library.worlds[int(handle)]
	delete(library.worlds, int(handle))
	delete(library.logs, int(handle))
	library.Unlock()
	if v != nil {
		v.Close()
	}
}

func main() {}

package des_test

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
)

func Example() {
	sim := des.New(des.Config{Seed: 1})
	sim.After(5*des.Second, 0, des.Func(func(s *des.Simulator, e des.Event) {
		fmt.Println("it is", s.Now())
	}), 0)
	if err := sim.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: it is 5
}

// A handler that is a pointer, here a machine, is scheduled without
// allocation; the argument tells its kinds of event apart.
func ExampleSimulator_After() {
	sim := des.New(des.Config{})
	sim.After(0, 0, &machine{}, on)
	if err := sim.RunUntil(context.Background(), 10*des.Minute); err != nil {
		fmt.Println(err)
	}
	// Output:
	// on at 0
	// off at 240
	// on at 300
	// off at 540
	// on at 600
}

const (
	on uint64 = iota
	off
)

type machine struct{}

func (m *machine) Handle(sim *des.Simulator, e des.Event) {
	switch e.Arg {
	case on:
		fmt.Println("on at", sim.Now())
		sim.After(4*des.Minute, 0, m, off)
	case off:
		fmt.Println("off at", sim.Now())
		sim.After(1*des.Minute, 0, m, on)
	}
}

func ExampleSimulator_Reschedule() {
	sim := des.New(des.Config{})
	due := sim.At(60*des.Second, 0, des.Func(func(s *des.Simulator, _ des.Event) {
		fmt.Println("done at", s.Now())
	}), 0)
	sim.At(10*des.Second, 0, des.Func(func(s *des.Simulator, _ des.Event) {
		due, _ = s.Reschedule(due, 30*des.Second, 0) // it goes faster than thought
	}), 0)
	if err := sim.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: done at 30
}

// Streams of the same name are the same whatever else a model draws, so that
// two variants meet the same arrivals.
func ExampleSimulator_Stream() {
	sim := des.New(des.Config{Seed: 1})
	fmt.Printf("%.3f\n", sim.Stream("arrivals").Float64())
	fmt.Printf("%.3f\n", sim.Stream("runtimes").Float64())
	fmt.Printf("%.3f\n", sim.Stream("arrivals").Float64())
	// Output:
	// 0.341
	// 0.881
	// 0.341
}

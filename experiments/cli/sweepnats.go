package cli

// Studies over a NATS server: the engine nats of sweep, and the command worker.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/command"
	"github.com/gridslot/gridslot/experiments/internal/machine"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

// natsStudy is --engine nats.
type natsStudy struct {
	nats.Engine
	given command.NATS
}

func natsEngine(n command.NATS, local sweep.Local) sweep.Engine {
	return natsStudy{nats.Engine{Server: serverOf(n), Keep: n.Keep, Workers: local.Workers, Local: local}, n}
}

func serverOf(n command.NATS) nats.Server { return nats.Server{URL: n.URL, Token: n.Token, CA: n.CA} }

// Run implements sweep.Engine.
func (n natsStudy) Run(ctx context.Context, w *sweep.Work) error {
	if n.Server.URL != "" {
		return n.Engine.Run(ctx, w)
	}
	server, err := embedded.Start(embedded.Config{
		Listen: n.given.Listen, Cert: n.given.Cert, Key: n.given.Key, Token: n.Server.Token, Dir: filepath.Join(w.Dir, natsStore),
	})
	if err != nil {
		return err
	}
	n.Server.URL = server.URL()
	if n.given.Cert != "" && n.Server.CA == "" {
		n.Server.CA = n.given.Cert // its own, where nobody else vouches for it
	}
	line := "gridslot worker --url " + server.URLFor(hostname())
	switch {
	case n.given.TokenFile != "":
		line += " --token-file " + filepath.Base(n.given.TokenFile)
	case n.Server.Token != "":
		line += " --token-file FILE"
	}
	if n.given.Cert != "" {
		line += " --tls-ca " + filepath.Base(n.Server.CA)
	}
	w.Tell("for more workers: %s", line)
	err = n.Engine.Run(ctx, w)
	server.Close()
	return err
}

// Tidy removes what the server within this command, or within one that was killed, has
// stored beside a study that is done.
func (n natsStudy) Tidy(dir string) error {
	if n.Keep {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, natsStore))
}

// natsStore is the store of the server within this command, in the study's folder.
const natsStore = ".nats"

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "HOST"
	}
	return name
}

func newWorker(t *scenario.Tables) *cobra.Command {
	var given command.NATS
	var w nats.Worker
	local := sweep.Local{}
	cmd := &cobra.Command{
		Use:   command.Worker.Use,
		Short: command.Worker.Short,
		Long: `Carry out runs of all studies on a NATS server that 'gridslot sweep --engine nats'
has put there, until it is told to end: what is under way is given back then.

A worker needs nothing but the server's address: studies and their files come
from there. It has to be the same program as the one that has begun the study.`,
		Example: `  gridslot worker --url nats://host:4222 --token-file token
  gridslot worker --url nats://host:4222 --token-file token --workers 4 --idle 10m`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if given.URL == "" {
				return command.Usagef("give --url, the address of the NATS server, such as nats://host:4222")
			}
			if w.Slots < 1 {
				return command.Usagef("--workers must be 1 or more, not %d", w.Slots)
			}
			if err := given.ReadToken(); err != nil {
				return err
			}
			w.Server = serverOf(given)
			if w.Cache == "" {
				folder, err := os.UserCacheDir()
				if err != nil {
					return errors.New("give --cache, a folder for copies of the studies' files: this machine names none")
				}
				w.Cache = filepath.Join(folder, "gridslot")
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding the program for the workers: %w", err)
			}
			local.Command = []string{self, "sweep", "work"}
			w.Build = command.Build() // not before: of a program without a commit it reads the whole file
			w.Tell = command.Teller(cmd.ErrOrStderr())
			w.Open = func(job nats.Job) (nats.CarryOut, func(), error) {
				if err := sameInputs(job, t); err != nil {
					return nil, nil, err
				}
				pool := local.Pool(&sweep.Work{Portable: job.Portable, Basis: job.Basis, Limit: job.Limit, Dir: job.Dir, Tell: w.Tell})
				return pool.Do, pool.Close, nil
			}
			return w.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	given.AddServer(f, "of the NATS server, such as nats://host:4222")
	f.IntVar(&w.Slots, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	command.ParsedFlag(cmd, &local.Memory, "memory", "", "SIZE", "memory of all runs under way, such as 12G (default: three quarters of the machine's)", command.Optional(machine.ParseSize))
	command.ParsedFlag(cmd, &w.Idle, "idle", "", "TIME", "end when there was nothing to do for so long, such as 10m (default: never)", command.Optional(command.ParseLimit))
	f.StringVar(&w.Cache, "cache", "", "folder for copies of the studies' files (default: gridslot in the user's cache folder)")
	return cmd
}

// sameInputs requires that the files which a study reads here are those that it reads at
// its coordinator's: a file of a scenario may name others by where they are there.
func sameInputs(job nats.Job, t *scenario.Tables) error {
	st, err := study.Read(*job.Portable, t)
	if err != nil {
		return err
	}
	here, err := st.Inputs()
	if err != nil {
		return err
	}
	same := func(a, b sweep.Input) bool { return a.Of == b.Of && a.Sum == b.Sum }
	if !slices.EqualFunc(here, job.Basis.Inputs, same) {
		return errors.New("a file that it names by its whole path is another one on this machine: name files in it from the folder that they are in")
	}
	return nil
}

package cli

// Studies over a NATS server: --engine nats of sweep, and the command worker.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/internal/machine"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

// natsFlags say how a NATS server is reached.
type natsFlags struct {
	server    nats.Server
	tokenFile string
}

func (f *natsFlags) add(flags *pflag.FlagSet, url string) {
	flags.StringVar(&f.server.URL, "url", "", url)
	flags.StringVar(&f.server.Token, "token", "", "that the server wants to know; others on this machine see it among its processes: better --token-file")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token")
	flags.StringVar(&f.server.CA, "tls-ca", "", "file with the certificate that vouches for the server's")
}

// reach is the server that the flags mean.
func (f *natsFlags) reach() (nats.Server, error) {
	server := f.server
	if f.tokenFile == "" {
		return server, nil
	}
	if server.Token != "" {
		return server, usagef("give --token or --token-file, not both")
	}
	text, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return server, fmt.Errorf("reading the token (--token-file): %w", err)
	}
	if server.Token = strings.TrimSpace(string(text)); server.Token == "" {
		return server, fmt.Errorf("%s is to hold a token, and is empty", f.tokenFile)
	}
	return server, nil
}

// natsStudy is --engine nats.
type natsStudy struct {
	nats.Engine
	flags  *natsFlags
	listen embedded.Config
}

func natsEngine() sweepEngine {
	n := &natsStudy{flags: &natsFlags{}}
	f := pflag.NewFlagSet("nats", pflag.ContinueOnError)
	f.SortFlags = false
	n.flags.add(f, "of the NATS server, such as nats://host:4222 (default: a server within this command)")
	f.StringVar(&n.listen.Listen, "listen", "", "address of the server within this command, such as :4222 to be reached from other machines (default: this machine alone)")
	f.StringVar(&n.listen.Cert, "tls-cert", "", "file with the certificate of the server within this command")
	f.StringVar(&n.listen.Key, "tls-key", "", "file with its key")
	f.BoolVar(&n.Keep, "keep-queue", false, "leave the study on the server when it is done")
	return sweepEngine{
		name: "nats", text: "workers on any machines ('gridslot worker'), by a NATS server", flags: f,
		engine: func(s *sweeping) (sweep.Engine, error) {
			e := *n
			server, err := n.flags.reach()
			if err != nil {
				return nil, err
			}
			if server.URL != "" && e.listen != (embedded.Config{}) {
				return nil, usagef("--listen, --tls-cert and --tls-key are of a server within this command, and --url names another")
			}
			e.Server, e.Workers = server, s.workers
			e.Local, err = s.local()
			return e, err
		},
	}
}

// Run implements sweep.Engine.
func (n natsStudy) Run(ctx context.Context, w *sweep.Work) error {
	if n.Server.URL != "" {
		return n.Engine.Run(ctx, w)
	}
	n.listen.Dir, n.listen.Token = filepath.Join(w.Dir, natsStore), n.Server.Token
	server, err := embedded.Start(n.listen)
	if err != nil {
		return err
	}
	n.Server.URL = server.URL()
	if n.listen.Cert != "" && n.Server.CA == "" {
		n.Server.CA = n.listen.Cert // its own, where nobody else vouches for it
	}
	line := "gridslot worker --url " + server.URLFor(hostname())
	switch {
	case n.flags.tokenFile != "":
		line += " --token-file " + filepath.Base(n.flags.tokenFile)
	case n.Server.Token != "":
		line += " --token-file FILE"
	}
	if n.listen.Cert != "" {
		line += " --tls-ca " + filepath.Base(n.Server.CA)
	}
	w.Tell("for more workers: %s", line)
	err = n.Engine.Run(ctx, w)
	server.Close()
	return err
}

// tidy removes what the server within this command, or within one that was killed, has
// stored beside a study that is done.
func (n natsStudy) tidy(dir string) error {
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
	var flags natsFlags
	w := nats.Worker{Build: sweep.Build(version())}
	local := sweep.Local{}
	cmd := &cobra.Command{
		Use:   "worker --url URL",
		Short: "Carry out runs of studies that others have begun",
		Long: `Carry out runs of all studies on a NATS server that 'gridslot sweep --engine nats'
has put there, until it is told to end: what is under way is given back then.

A worker needs nothing but the server's address: studies and their files come
from there. It has to be the same program as the one that has begun the study.`,
		Example: `  gridslot worker --url nats://host:4222 --token-file token
  gridslot worker --url nats://host:4222 --token-file token --workers 4 --idle 10m`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.server.URL == "" {
				return usagef("give --url, the address of the NATS server, such as nats://host:4222")
			}
			if w.Slots < 1 {
				return usagef("--workers must be 1 or more, not %d", w.Slots)
			}
			var err error
			if w.Server, err = flags.reach(); err != nil {
				return err
			}
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
			w.Tell = teller(cmd.ErrOrStderr())
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
	flags.add(f, "of the NATS server, such as nats://host:4222")
	f.IntVar(&w.Slots, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	parsedFlag(cmd, &local.Memory, "memory", "", "SIZE", "memory of all runs under way, such as 12G (default: three quarters of the machine's)", optional(machine.ParseSize))
	parsedFlag(cmd, &w.Idle, "idle", "", "TIME", "end when there was nothing to do for so long, such as 10m (default: never)", optional(parseLimit))
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

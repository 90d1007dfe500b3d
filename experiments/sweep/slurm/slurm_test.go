package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// The program that the jobs run is that of the tests: with the words of a task it
// does its part of a study.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "sweep" {
		if err := job(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if theCluster != nil {
		theCluster.stop()
	}
	os.Exit(code)
}

// job is sweep shard I/N STUDY --out DIR --workers N, or sweep merge DIR.
func job(words []string) error {
	switch {
	case words[0] == "merge" && len(words) == 2:
		f, err := sweep.OpenFor(words[1], false)
		if err != nil {
			return err
		}
		f.Close()
		return os.WriteFile(filepath.Join(words[1], "merged"), nil, 0o666)
	case words[0] == "shard" && len(words) == 7 && words[3] == "--out" && words[5] == "--workers":
		shard, err := sweep.ParseShard(words[1])
		if err != nil {
			return err
		}
		s, err := readStudy(words[2], words[4])
		if err != nil {
			return err
		}
		shard.Engine = sweep.InProcess{Workers: 1}
		s.Engine = shard
		_, err = sweep.Run(context.Background(), s, s.do)
		return err
	}
	return fmt.Errorf("wrong words: %q", words)
}

// Package cli is the command gridslot with all its parts, for programs of one's own: the
// command plus what Extend adds. What needs figures or Parquet is written here, a file a
// subcommand; all other subcommands are in experiments/internal/command.
//
// Package light is the same command, which hands over to a program of this one what
// it cannot do itself.
package cli

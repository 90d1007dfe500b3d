package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// What a worker and the one who has started it say to each other: an order and its
// answer, each a line of JSON. The first order is the study.
type (
	order struct {
		Study *opening `json:"study,omitempty"`
		Unit  *Unit    `json:"unit,omitempty"`
	}
	opening struct {
		Portable Portable `json:"portable"`
		Basis    Basis    `json:"basis"`
		Dir      string   `json:"dir"` // the study's folder
	}
	answer struct {
		Refused string        `json:"refused,omitempty"` // why there can be no work on that study
		Key     string        `json:"key,omitempty"`     // of the unit
		Row     Row           `json:"row,omitempty"`
		Failure *Failure      `json:"failure,omitempty"`
		Time    time.Duration `json:"time,omitempty"`
		Disk    string        `json:"disk,omitempty"`
		Peak    int64         `json:"peak,omitempty"` // bytes
	}
)

// Serve is the other side of a pool: it carries out the units that come by in, one
// after the other, and answers on out, until in ends. Then it returns at once, and so
// should the program, whatever the unit under way does. Open reads the study.
func Serve(in io.Reader, out io.Writer, open func(Portable, Basis) (Do, error)) error {
	beVictim()
	orders, ended := make(chan order), make(chan error, 1)
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		for read := json.NewDecoder(in); ; {
			var o order
			if err := read.Decode(&o); err != nil {
				ended <- err
				return
			}
			select {
			case orders <- o:
			case <-quit:
				return
			}
		}
	}()
	answers := make(chan error, 1)
	go func() { answers <- serve(orders, out, open, quit) }()
	select {
	case err := <-ended:
		if errors.Is(err, io.EOF) {
			return nil
		}
		return fmt.Errorf("reading what to do: %w", err)
	case err := <-answers:
		return err
	}
}

func serve(orders <-chan order, out io.Writer, open func(Portable, Basis) (Do, error), quit <-chan struct{}) error {
	send := json.NewEncoder(out)
	var do Do
	var study Study
	for {
		var a answer
		select {
		case <-quit:
			return nil
		case o := <-orders:
			switch {
			case o.Study != nil:
				var err error
				study.Dir, study.Basis = o.Study.Dir, o.Study.Basis
				if do, err = open(o.Study.Portable, o.Study.Basis); err != nil {
					a.Refused = err.Error()
				}
			case o.Unit != nil && do != nil:
				if err := study.Basis.check(*o.Unit); err != nil {
					return err
				}
				a = one(*o.Unit, do, &study)
			default:
				return errors.New("a line is neither a study nor a unit of one: this command is for 'gridslot sweep'")
			}
		}
		if err := send.Encode(a); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
	}
}

// keptMemory is how much a worker may keep between two units, in bytes.
const keptMemory = 64 << 20

// one carries out a unit and measures what it took.
func one(u Unit, do Do, study *Study) answer {
	fmt.Fprint(os.Stderr, unitBegins) // of what is said from here on it is the log
	resetPeak()
	o := carryOut(context.Background(), u, do, study) // its limits are kept by the other side
	a := answer{Key: u.Key, Row: o.Row, Failure: o.Failure, Disk: o.Disk, Time: o.Usage.Time, Peak: peakSize()}
	if a.Peak > keptMemory {
		debug.FreeOSMemory() // others need it, and the next unit shall be measured by itself
	}
	return a
}

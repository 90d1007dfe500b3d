package oarrla

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/agent"
)

// Config is a grid: what it consists of and who decides. It is what --grid
// reads.
type Config struct {
	Clusters []Cluster `yaml:"clusters"`
	// Brokers is how many there are; 0 means 7, as in OAR11.
	Brokers int    `yaml:"brokers"`
	Assign  Assign `yaml:"assign"` // which jobs go to which broker
	// Strategies are names of policy/agent's registry, to be compared; none
	// means oar and rla.
	Strategies []string `yaml:"strategies"`
	Network    Network  `yaml:"network"`
	// Expiry is how long a site keeps an emergency reservation that is neither
	// committed nor cancelled, in seconds; 0 means grid.DefaultExpiry.
	Expiry float64 `yaml:"expiry"`
	// Log has negotiations written to log-STRATEGY.txt.
	Log bool `yaml:"log"`
}

// Cluster is one site.
type Cluster struct {
	Name       string  `yaml:"name"` // "cluster-1" and so on where empty
	Processors int     `yaml:"processors"`
	Speed      float64 `yaml:"speed"`  // its MIPS over the reference's, on which jobs take what the trace says; 0 means 1
	Policy     string  `yaml:"policy"` // of the local scheduler, from the registry of policies; "easy" where empty
	// Local is a trace of the site's own jobs, or "".
	Local      string `yaml:"local"`
	QueueLimit int    `yaml:"queue_limit"` // see grid.ResourceAgent
}

// Network is the links between brokers, clusters and the regulator.
type Network struct {
	Latency float64 `yaml:"latency"` // seconds
	// Bandwidth of each pair, in bytes per second; nil is no limit, and over 0
	// nothing passes.
	Bandwidth *float64 `yaml:"bandwidth"`
	Links     []Link   `yaml:"links"`
}

// Link is one that differs from the others.
type Link struct {
	Between   [2]string `yaml:"between"` // names: of clusters, "broker-1" and so on, "regulator"
	Latency   float64   `yaml:"latency"`
	Bandwidth *float64  `yaml:"bandwidth"`
}

// Assign says which jobs go to which broker.
type Assign string

const (
	AssignInTurn Assign = "round-robin" // the default
	AssignByUser Assign = "user"        // by the user's number; jobs of unknown users in turn
	AssignRandom Assign = "random"
)

// OAR11 is the paper's grid: seven clusters, seven brokers. It gives neither
// speeds nor latencies nor the local schedulers: ours are equal speeds, 1 s
// (a wide-area round trip and the handling at both ends) and EASY.
func OAR11() Config {
	c := Config{Network: Network{Latency: 1}}
	for _, n := range []int{240, 210, 180, 150, 120, 90, 60} {
		c.Clusters = append(c.Clusters, Cluster{Processors: n})
	}
	return c.withDefaults()
}

// Read reads a grid from a YAML file. Paths in it are relative to its folder.
func Read(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("opening the grid: %w", err)
	}
	defer f.Close()
	c, err := Decode(f)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	for i := range c.Clusters {
		if l := &c.Clusters[i].Local; *l != "" && !filepath.IsAbs(*l) {
			*l = filepath.Join(filepath.Dir(path), *l)
		}
	}
	return c, nil
}

// Decode reads a grid from YAML. Unknown keys are errors.
func Decode(r io.Reader) (Config, error) {
	var c Config
	if err := yamlfile.Decode(r, &c); err != nil {
		if errors.Is(err, io.EOF) {
			return Config{}, errors.New("the file is empty")
		}
		return Config{}, err
	}
	c = c.withDefaults()
	return c, c.Check()
}

func (c Config) withDefaults() Config {
	c.Brokers = cmp.Or(c.Brokers, 7)
	c.Assign = cmp.Or(c.Assign, AssignInTurn)
	if len(c.Strategies) == 0 {
		c.Strategies = []string{"oar", "rla"}
	}
	clusters := make([]Cluster, len(c.Clusters))
	for i, k := range c.Clusters {
		k.Name = cmp.Or(k.Name, fmt.Sprintf("cluster-%d", i+1))
		k.Speed = cmp.Or(k.Speed, 1)
		k.Policy = cmp.Or(k.Policy, "easy")
		clusters[i] = k
	}
	c.Clusters = clusters
	return c
}

func brokerName(i int) string { return fmt.Sprintf("broker-%d", i+1) }

// Check reports what makes c meaningless, or nil.
func (c Config) Check() error {
	names := map[string]bool{"regulator": true}
	for i := range c.Brokers {
		names[brokerName(i)] = true
	}
	switch {
	case len(c.Clusters) == 0:
		return errors.New("a grid needs clusters")
	case c.Brokers < 1:
		return fmt.Errorf("a grid needs 1 broker or more, not %d", c.Brokers)
	case c.Assign != AssignInTurn && c.Assign != AssignByUser && c.Assign != AssignRandom:
		return fmt.Errorf("assign %q: want %s, %s or %s", c.Assign, AssignInTurn, AssignByUser, AssignRandom)
	case !(c.Expiry >= 0) || c.Expiry > maxSeconds:
		return fmt.Errorf("expiry must be 0 (the default) to %g seconds, not %v", maxSeconds, c.Expiry)
	}
	for _, k := range c.Clusters {
		switch {
		case names[k.Name]:
			return fmt.Errorf("two entities are called %q", k.Name)
		case k.Processors < 1 || k.Processors > math.MaxInt32:
			return fmt.Errorf("%s: processors must be 1 or more, not %d", k.Name, k.Processors)
		case !(k.Speed >= minSpeed && k.Speed <= 1/minSpeed):
			return fmt.Errorf("%s: speed must be %g to %g, not %v", k.Name, minSpeed, 1/minSpeed, k.Speed)
		case k.QueueLimit < 0:
			return fmt.Errorf("%s: queue_limit must not be negative: %d", k.Name, k.QueueLimit)
		}
		names[k.Name] = true
		if _, err := policy.Registry().Parse(k.Policy); err != nil {
			return fmt.Errorf("%s: policy %w", k.Name, err)
		}
	}
	for _, s := range c.Strategies {
		if _, err := agent.Registry().Parse(s); err != nil {
			return fmt.Errorf("strategy %w", err)
		}
	}
	for _, l := range c.Network.Links {
		for _, name := range l.Between {
			if !names[name] {
				return fmt.Errorf("a link names %q, which is no entity", name)
			}
		}
		if l.Between[0] == l.Between[1] {
			return fmt.Errorf("a link leads from %q to itself", l.Between[0])
		}
	}
	_, err := c.Network.network()
	return err
}

const (
	maxSeconds = 1e9
	minSpeed   = 1e-3
)

func (n Network) network() (*grid.Network, error) {
	var err error
	made := &grid.Network{Links: map[[2]string]grid.Link{}}
	if made.Default, err = link(n.Latency, n.Bandwidth); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	for _, l := range n.Links {
		if made.Links[l.Between], err = link(l.Latency, l.Bandwidth); err != nil {
			return nil, fmt.Errorf("link %v: %w", l.Between, err)
		}
	}
	return made, nil
}

func link(latency float64, bandwidth *float64) (grid.Link, error) {
	if !(latency >= 0 && latency <= maxSeconds) {
		return grid.Link{}, fmt.Errorf("latency must be 0 to %g seconds, not %v", maxSeconds, latency)
	}
	l := grid.Direct()
	l.Latency = des.Seconds(latency)
	if bandwidth != nil {
		l.Bandwidth = *bandwidth
	}
	return l, l.Check()
}

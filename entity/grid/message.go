package grid

// What the agents of a grid say to each other.
//
//	broker      askOffers, askWhole, askLoad ->  agent
//	            <- offers, loadIs
//	            reserve ->                       -> reserved (or not)
//	            submit ->                        -> refused, if it is
//	            <- done
//	broker      intervene ->                     regulator
//	regulator   hold ->                          agent
//	            <- held (or not)
//	            commit, cancel ->                -> committed (or not)

// message is one of the types below.
type message interface{ bytes() int }

// Sizes in bytes: of a message, and of every offer in one. OAR11 gives none;
// these are an envelope and a few numbers.
const (
	messageBytes = 128
	offerBytes   = 24
)

// plain is a message of the usual size.
type plain struct{}

func (plain) bytes() int { return messageBytes }

func (m offers) bytes() int { return messageBytes + offerBytes*len(m.list) }

type (
	// askOffers wants every free slot, askWhole one window for all tasks; offers has
	// them.
	askOffers struct {
		plain
		*inquiry
	}
	askWhole struct {
		plain
		*inquiry
		behind bool // all that waits
	}
	offers struct {
		*inquiry
		list    []Offer
		refusal *Refusal // to askWhole, where there is none
	}
	// askLoad wants to know how much waits.
	askLoad struct {
		plain
		*inquiry
	}
	loadIs struct {
		plain
		*inquiry
		load Backlog
	}
	// reserve books what was offered for the fragment.
	reserve struct {
		plain
		fragment *Fragment
		offer    Offer
	}
	reserved struct {
		plain
		fragment *Fragment
		refusal  string // why not; "" where it is reserved
	}
	// submit brings a fragment into the local queue.
	submit struct {
		plain
		fragment *Fragment
	}
	refused struct {
		plain
		fragment *Fragment
		refusal  string
	}
	done struct {
		plain
		fragment *Fragment
	}
	// intervene leaves a sub-job to the regulator.
	intervene struct {
		plain
		*bag
		nodes int
	}
	// hold wants an emergency reservation until it is committed, cancelled or
	// expires.
	hold struct {
		plain
		*emergency
	}
	held struct {
		plain
		*emergency
		fragment *Fragment // nil where it cannot be
	}
	commit struct {
		plain
		fragment *Fragment
	}
	committed struct {
		plain
		fragment *Fragment
		ok       bool // false where it had expired
	}
	cancel struct {
		plain
		fragment *Fragment
	}
)

package nats

import (
	"sync"
	"time"
)

// progress is how far the bucket has been read. It is kept from one connection to the
// next.
type progress struct {
	round uint64 // number of the current or last full reading; the follower's alone

	// mu guards the rest. Only the follower writes to it, except that catchUp
	// advances applied.
	mu sync.Mutex
	copyState
}

// copyState is which part of the bucket is in the copy.
type copyState struct {
	created  time.Time // when the bucket was made
	applied  uint64    // everything up to this revision is in the copy
	watched  uint64    // what the watch has delivered, or the revision after which it began
	complete bool      // the bucket has been read to its end

	doubted      bool   // a server said that the bucket has less: see behind.go
	doubtedAfter uint64 // the least revision that one said
}

func (p *progress) snapshot() copyState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.copyState
}

// advance notes that everything up to a revision of a bucket is in the copy.
func (p *progress) advance(created time.Time, to uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.created.Equal(created) {
		p.applied = max(p.applied, to)
	}
}

// reset makes the follower read the whole bucket, as if it were another one.
func (p *progress) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.created, p.complete = time.Time{}, false
}

package sdks

import (
	"strconv"

	"github.com/millrace/millrace/integration/sdk"
)

// flow is numbers that one client says to another one, on the channel of its name. That one gets
// each once, and in order unless they are late.
type flow struct {
	*sdk.Sub
	from       *sdk.Client
	tenant     string
	said, last int // how many, and which came last of those in order
	seen       map[int]bool
}

// flow is one that has begun.
func (s *stage) flow(from, to *sdk.Client) *flow {
	s.T.Helper()
	f := &flow{Sub: to.Subscribe(s.Tenant, to.Name), from: from, tenant: s.Tenant, last: -1, seen: map[int]bool{}}
	s.poll("numbers", func() bool { f.say(); return len(f.Messages.Rest()) > 0 })
	from.Flush() // else the last one may be under way when a path dies
	return f
}

func (f *flow) say() {
	f.C.T.Helper()
	f.from.Publish(f.tenant, f.C.Name, strconv.Itoa(f.said))
	f.said++
}

func (f *flow) take() {
	f.C.T.Helper()
	r := f.Next()
	i, err := strconv.Atoi(string(r.Payload))
	if err != nil || f.seen[i] || i < f.last && !r.Late {
		f.C.T.Fatalf("%s: got %v, want another number, after %d or late", f.C.Kind, r, f.last)
	}
	f.seen[i], f.last = true, max(f.last, i)
}

// gaps is in how many places numbers are missing.
func (f *flow) gaps() (gaps int) {
	for i := range f.seen {
		if i < f.last && !f.seen[i+1] {
			gaps++
		}
	}
	return gaps
}

// want requires all numbers from the first that came on, but for those that are missing in so many
// places. Chromium is held to less: it ends a WebTransport connection 5 s after anything that it
// sent has no acknowledgement, and with it what the edge would send again.
func (f *flow) want(gaps int) {
	f.C.T.Helper()
	if f.C.Kind == (sdk.Kind{Where: "chromium", Transport: "webtransport"}) {
		gaps = max(gaps, f.C.Count("suspect"))
	}
	for f.last < f.said-1 || f.gaps() > gaps {
		f.take()
	}
	f.C.Flush()
	for len(f.Messages.Rest()) > 0 {
		f.take() // nothing that came before
	}
}

package nats

import (
	"context"
	"strconv"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/wire"
)

// payer is whose messages make room: an owner, whatever the tenant, or a tenant. The other name is empty.
type payer struct{ owner, tenant string }

// trimNote says that the messages of a payer up to a number make room for others; done: and that they are
// removed.
type trimNote struct {
	payer payer  // nobody: the note is broken
	to    uint64 // 0: it is not known, as it has a payload and no header, and was loaded; or nothing was, of done
	done  bool
}

// headerTrim is the header with that number. An edge that reads a stream does not get payloads; earlier
// versions have the number only there.
const headerTrim = "Millrace-Trim"

// trimKinds are what the subjects of these notes begin with, behind which come a rotation and the payer.
var trimKinds = []struct {
	token       string
	owner, done bool
}{
	{trimToken, false, false}, {trimmedToken, false, true}, {ownerTrimToken, true, false}, {ownerTrimmedToken, true, true},
}

// note is the subject of a note about a payer.
func (p payer) note(n names, history string, done bool) string {
	token, name := p.token(done)
	return n.note(history, rotated(token)+".", name, "")
}

// publishTrim stores a note.
func (s *Store) publishTrim(ctx context.Context, history string, n trimNote) error {
	number := strconv.FormatUint(n.to, 10)
	_, err := s.publishMsg(ctx, &client.Msg{
		Subject: n.payer.note(s.names, history, n.done), Header: client.Header{headerTrim: {number}}, Data: []byte(number),
	})
	return err
}

// notes matches the subjects of all such notes.
func (p payer) notes(n names, history string, done bool) string {
	token, name := p.token(done)
	return n.note(history, token+"*.", name, "")
}

func (p payer) token(done bool) (token, name string) {
	for _, kind := range trimKinds {
		if kind.owner == (p.owner != "") && kind.done == done {
			token = kind.token
		}
	}
	return token, p.owner + p.tenant
}

// parseTrim reads a note with this number; is: it is one about a payer.
func parseTrim(subject, number string) (n trimNote, is bool) {
	for _, kind := range trimKinds {
		about, is := strings.CutPrefix(subject, kind.token)
		if !is {
			continue
		}
		_, about, _ = strings.Cut(about, ".") // the rotation
		name, _ := splitNote(about)
		n.done = kind.done
		n.to, _ = strconv.ParseUint(number, 10, 64)
		if kind.owner {
			n.payer.owner = name
		} else {
			n.payer.tenant = name
		}
		return n, true
	}
	return n, false
}

// takeTrim does what a note says that stands at a position. Other edges than its own remove by the same
// rule, but one that loads has perhaps not read what was removed. The caller holds st.mu.
func (st *stream) takeTrim(n trimNote, at wire.Position, loading bool) {
	switch {
	case n.done:
		st.trims.done(n.payer, n.to)
	case n.payer.owner != "":
		if loading {
			if n.to > 0 {
				at = st.times.at(n.to)
			}
			st.index.RaiseOwnerFloors(n.payer.owner, at)
			st.index.RemoveOwnedTo(n.payer.owner, n.to) // which may have been read before it was removed
		}
		st.trims.claim(n.payer, time.Now()) // of that, too
	case n.payer.tenant != "":
		st.trims.claim(n.payer, time.Now())
		st.index.RemoveTo(n.payer.tenant, n.to)
		if loading {
			st.index.Skip(n.payer.tenant, at, wire.GapExpired)
		}
	case loading: // whoever that was about
		st.index.RaiseFloors(at, wire.GapExpired)
	}
}

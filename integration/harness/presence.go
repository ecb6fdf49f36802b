package harness

import (
	"maps"
	"slices"
	"strings"

	"github.com/millrace/millrace/wire"
)

// PresenceTenant is the tenant of the tests about presence, unless they say another one.
const PresenceTenant = "paint.a"

// WithPresence is an edge that knows who is in room.#; options are of that block.
func WithPresence(options ...string) string {
	return strings.Replace(DefaultCaddyfile, "drain ", `presence rooms {
			channels room.#
			`+strings.Join(options, "\n\t\t\t")+`
		}
		drain `, 1)
}

// SubjectToken issues a token of a subject, with info, that may do everything in the tenants,
// to watch who is present included.
func (e *Edge) SubjectToken(subject, info string, tenants ...string) string {
	e.T.Helper()
	grant := AllowAll(tenants...)
	grant["allow_channels_presence"] = []string{"#"}
	request := TokenRequest(grant)
	if subject != "" {
		request["subject"] = subject
	}
	if info != "" {
		request["info"] = Object{"name": info}
	}
	return e.IssueAs(e.Master, request).Token
}

// watching is a client that watches who is present; package client tests that clients keep to
// docs/protocol.md.
type watching struct {
	*Socket
	tenant string
	view   *presenceView
}

// presenceView is what a client knows by its WHO.
type presenceView struct {
	pattern string
	members map[string]bool // "channel subject"
	next    map[string]bool // what comes in place of them with the frame that is synced
	Events  []string        // "+channel subject", "-channel subject"
}

func (v *presenceView) note(key string, here bool) {
	if here == v.members[key] {
		return
	}
	if here {
		v.members[key] = true
		v.Events = append(v.Events, "+"+key)
	} else {
		delete(v.members, key)
		v.Events = append(v.Events, "-"+key)
	}
}

func (s *Socket) Watching(tenant string) *watching { return &watching{s, tenant, nil} }

// Who sends a WHO, and returns what it will bring.
func (w *watching) Who(pattern string, count bool) *presenceView {
	w.T.Helper()
	w.view = &presenceView{pattern: pattern, members: map[string]bool{}, next: map[string]bool{}}
	w.SendLine(string(wire.AppendWho(nil, w.tenant, pattern, count)))
	for w.Next() != "OK:WHO:"+w.tenant+":"+pattern {
	}
	return w.view
}

// Next reads a message, and returns it if it is a line.
func (w *watching) Next() (line string) {
	w.T.Helper()
	kind, message, err := w.Read()
	w.Must(err)
	if kind == AsText {
		return string(message)
	}
	p, v := value(wire.DecodePresence(message))(w.T), w.view
	if p.Pattern != v.pattern || p.Tenant != w.tenant {
		w.T.Fatalf("a frame for %s:%s, which is not watched", p.Tenant, p.Pattern)
	}
	if p.First {
		v.next = map[string]bool{}
	}
	for _, m := range p.Members {
		if key := m.Channel + " " + m.Subject; v.next != nil {
			v.next[key] = m.Here
		} else {
			v.note(key, m.Here)
		}
	}
	if p.Synced && v.next != nil {
		for _, key := range slices.Sorted(maps.Keys(v.members)) {
			v.note(key, v.next[key])
		}
		for _, key := range slices.Sorted(maps.Keys(v.next)) {
			v.note(key, v.next[key])
		}
		v.next = nil
	}
	return ""
}

// UntilMembers reads until a view has these members, each "channel subject".
func (w *watching) UntilMembers(v *presenceView, members ...string) {
	w.T.Helper()
	slices.Sort(members)
	for v.next != nil || !slices.Equal(slices.Sorted(maps.Keys(v.members)), members) {
		if line := w.Next(); line != "" {
			w.T.Fatalf("got the line %q while waiting for %q; there is %+v", line, members, v)
		}
	}
}

// Told requires what has happened since the last call.
func (w *watching) Told(v *presenceView, events ...string) {
	w.T.Helper()
	if !slices.Equal(v.Events, events) {
		w.T.Fatalf("%s: was told %q, want %q", v.pattern, v.Events, events)
	}
	v.Events = nil
}

// Join sends JOINs, and awaits the answers.
func (s *Socket) Join(tenant string, channels ...string) {
	s.T.Helper()
	s.Ask("JOIN", tenant, channels...)
}

// Quit sends LEAVEs, and awaits the answers.
func (s *Socket) Quit(tenant string, channels ...string) {
	s.T.Helper()
	s.Ask("LEAVE", tenant, channels...)
}

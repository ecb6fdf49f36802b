package harness

import (
	"fmt"
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

// PresenceView is what a client knows by a WHO, as docs/protocol.md tells it to: until a frame
// that is synced comes, it shows what it showed before.
type PresenceView struct {
	Pattern string
	Count   bool

	Members map[string]string // info, by "channel subject"
	Counts  map[string]uint32 // by channel
	Next    *PresenceView     // what comes in place of it; nil: nothing does
	Synced  bool              // once at least
	Events  []string          // "+channel subject", "-channel subject", "~channel subject" for another info
	Frames  int
	Far     int // frames with counts, for one that asked for members
}

func NewPresenceView(pattern string, count bool) *PresenceView {
	return &PresenceView{Pattern: pattern, Count: count, Members: map[string]string{}, Counts: map[string]uint32{}}
}

// Take notes a frame.
func (v *PresenceView) Take(p wire.Presence) error {
	v.Frames++
	switch {
	case p.Counts && !v.Count:
		v.Far++
		return nil
	case v.Count != p.Counts:
		return fmt.Errorf("a frame of members for WHO of %s with count", v.Pattern)
	case p.First:
		v.Next = NewPresenceView(v.Pattern, v.Count)
	case v.Next == nil && !v.Synced:
		return fmt.Errorf("the first frame of %s does not say so: %+v", v.Pattern, p)
	case v.Next == nil && p.Synced && v.Far == 0:
		return fmt.Errorf("%s is synced twice, and was not behind: %+v", v.Pattern, p)
	}
	at := v
	if v.Next != nil {
		at = v.Next
	}
	for _, m := range p.Members {
		at.note(m.Channel+" "+m.Subject, string(m.Info), m.Here)
	}
	for _, c := range p.Channels {
		if at.Counts[c.Channel] = c.Members; c.Members == 0 {
			delete(at.Counts, c.Channel)
		}
	}
	if next := v.Next; p.Synced && next != nil {
		for key := range v.Members {
			if _, here := next.Members[key]; !here {
				v.note(key, "", false)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(next.Members)) {
			v.note(key, next.Members[key], true)
		}
		v.Counts, v.Next, v.Synced = next.Counts, nil, true
	}
	return nil
}

// note notes whether a member is there.
func (v *PresenceView) note(key, info string, here bool) {
	was, known := v.Members[key]
	switch {
	case here && !known:
		v.Events = append(v.Events, "+"+key)
	case here && was != info:
		v.Events = append(v.Events, "~"+key)
	case !here && known:
		v.Events = append(v.Events, "-"+key)
	}
	if v.Members[key] = info; !here {
		delete(v.Members, key)
	}
}

// Has reports whether the members are these, each "channel subject".
func (v *PresenceView) Has(members ...string) bool {
	slices.Sort(members)
	return v.Synced && v.Next == nil && slices.Equal(slices.Sorted(maps.Keys(v.Members)), members)
}

// Watching is a client that watches who is present.
type Watching struct {
	*Socket
	Tenant string
	Views  map[string]*PresenceView // by pattern
}

func (s *Socket) Watching(tenant string) *Watching {
	return &Watching{s, tenant, map[string]*PresenceView{}}
}

// Who sends a WHO, and returns what it will bring.
func (w *Watching) Who(pattern string, count bool) *PresenceView {
	w.T.Helper()
	v := NewPresenceView(pattern, count)
	w.Views[pattern] = v
	w.SendLine(string(wire.AppendWho(nil, w.Tenant, pattern, count)))
	for w.Next() != "OK:WHO:"+w.Tenant+":"+pattern {
	}
	return v
}

// Refuses requires that a line is refused.
func (w *Watching) Refuses(code wire.Code, line string) {
	w.T.Helper()
	w.SendLine(line)
	got := ""
	for got == "" {
		got = w.Next()
	}
	if want := "ERR:" + string(code) + ":" + strings.TrimSuffix(line, ":count"); got != want {
		w.T.Fatalf("%s: got %q, want %q", line, got, want)
	}
}

// Next reads a message, and returns it if it is a line.
func (w *Watching) Next() (line string) {
	w.T.Helper()
	kind, message, err := w.Read()
	w.Must(err)
	if kind == AsText {
		return string(message)
	}
	w.Must(w.Take(message))
	return ""
}

// Take notes a frame.
func (w *Watching) Take(frame []byte) error {
	p, err := wire.DecodePresence(frame)
	if err != nil {
		return err
	}
	v := w.Views[p.Pattern]
	if v == nil || p.Tenant != w.Tenant {
		return fmt.Errorf("a frame for %s:%s, which is not watched", p.Tenant, p.Pattern)
	}
	return v.Take(p)
}

// Until reads frames until something holds, or the link's timeout.
func (w *Watching) Until(what string, holds func() bool) {
	w.T.Helper()
	for !holds() {
		kind, message, err := w.Read()
		if err == nil && kind == AsFrame {
			err = w.Take(message)
		} else if err == nil {
			err = fmt.Errorf("the line %q", message)
		}
		if err != nil {
			for _, v := range w.Views {
				w.T.Logf("%+v", v)
			}
			w.T.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

// UntilMembers reads until a view has these members, each "channel subject".
func (w *Watching) UntilMembers(v *PresenceView, members ...string) {
	w.T.Helper()
	w.Until(fmt.Sprintf("%s has %q", v.Pattern, members), func() bool { return v.Has(members...) })
}

// Told requires what has happened since the last call.
func (w *Watching) Told(v *PresenceView, events ...string) {
	w.T.Helper()
	if !slices.Equal(v.Events, events) {
		w.T.Fatalf("%s: was told %q, want %q", v.Pattern, v.Events, events)
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

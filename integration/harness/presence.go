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

// allowPresence allows everything in each of the tenants, to watch who is present included.
func allowPresence(tenants ...string) Object {
	g := AllowAll(tenants...)
	g["allow_channels_presence"] = []string{"#"}
	return g
}

// SubjectToken issues a token of a subject, with info, that may do everything in the tenants.
func (e *Edge) SubjectToken(subject, info string, tenants ...string) string {
	e.T.Helper()
	request := TokenRequest(allowPresence(tenants...))
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
		key := m.Channel + " " + m.Subject
		info, known := at.Members[key]
		switch {
		case m.Here && !known:
			at.Events = append(at.Events, "+"+key)
		case m.Here && info != string(m.Info):
			at.Events = append(at.Events, "~"+key)
		case !m.Here && known:
			at.Events = append(at.Events, "-"+key)
		}
		if at.Members[key] = string(m.Info); !m.Here {
			delete(at.Members, key)
		}
	}
	for _, c := range p.Channels {
		if at.Counts[c.Channel] = c.Members; c.Members == 0 {
			delete(at.Counts, c.Channel)
		}
	}
	if p.Synced && v.Next != nil {
		for key := range v.Members {
			if _, here := v.Next.Members[key]; !here {
				v.Events = append(v.Events, "-"+key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v.Next.Members)) {
			if info, known := v.Members[key]; !known {
				v.Events = append(v.Events, "+"+key)
			} else if info != v.Next.Members[key] {
				v.Events = append(v.Events, "~"+key)
			}
		}
		v.Members, v.Counts, v.Next, v.Synced = v.Next.Members, v.Next.Counts, nil, true
	}
	return nil
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
	want := "ERR:" + string(code) + ":" + strings.TrimSuffix(line, ":count")
	for {
		switch got := w.Next(); got {
		case want:
			return
		case "":
		default:
			w.T.Fatalf("%s: got %q, want %q", line, got, want)
		}
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
			for pattern, v := range w.Views {
				w.T.Logf("%s: members %q, counts %v, synced %v, events %q", pattern, slices.Sorted(maps.Keys(v.Members)), v.Counts, v.Synced, v.Events)
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

func (s *Socket) Ask(verb, tenant string, channels ...string) {
	s.T.Helper()
	for _, channel := range channels {
		s.SendLine(verb + ":" + tenant + ":" + channel)
		s.ExpectText("OK:" + verb + ":" + tenant + ":" + channel)
	}
}

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace/millrace/wire"
)

// presenceTenant is the tenant of the tests about presence, unless they say another one.
const presenceTenant = "paint.a"

// withPresence is an edge that knows who is in room.#; options are of that block.
func withPresence(options ...string) string {
	return strings.Replace(defaultCaddyfile, "drain ", `presence rooms {
			channels room.#
			`+strings.Join(options, "\n\t\t\t")+`
		}
		drain `, 1)
}

// allowPresence allows everything in each of the tenants, to watch who is present included.
func allowPresence(tenants ...string) object {
	g := allowAll(tenants...)
	g["allow_channels_presence"] = []string{"#"}
	return g
}

// subjectToken issues a token of a subject, with info, that may do everything in the tenants.
func (e *edge) subjectToken(subject, info string, tenants ...string) string {
	e.t.Helper()
	request := tokenRequest(allowPresence(tenants...))
	if subject != "" {
		request["subject"] = subject
	}
	if info != "" {
		request["info"] = object{"name": info}
	}
	return e.issueAs(e.master, request).Token
}

// presenceView is what a client knows by a WHO, as docs/protocol.md tells it to: until a frame
// that is synced comes, it shows what it showed before.
type presenceView struct {
	pattern string
	count   bool

	members map[string]string // info, by "channel subject"
	counts  map[string]uint32 // by channel
	next    *presenceView     // what comes in place of it; nil: nothing does
	synced  bool              // once at least
	events  []string          // "+channel subject", "-channel subject", "~channel subject" for another info
	frames  int
	far     int // frames with counts, for one that asked for members
}

func newPresenceView(pattern string, count bool) *presenceView {
	return &presenceView{pattern: pattern, count: count, members: map[string]string{}, counts: map[string]uint32{}}
}

// take notes a frame.
func (v *presenceView) take(p wire.Presence) error {
	v.frames++
	switch {
	case p.Counts && !v.count:
		v.far++
		return nil
	case v.count != p.Counts:
		return fmt.Errorf("a frame of members for WHO of %s with count", v.pattern)
	case p.First:
		v.next = newPresenceView(v.pattern, v.count)
	case v.next == nil && !v.synced:
		return fmt.Errorf("the first frame of %s does not say so: %+v", v.pattern, p)
	case v.next == nil && p.Synced && v.far == 0:
		return fmt.Errorf("%s is synced twice, and was not behind: %+v", v.pattern, p)
	}
	at := v
	if v.next != nil {
		at = v.next
	}
	for _, m := range p.Members {
		key := m.Channel + " " + m.Subject
		info, known := at.members[key]
		switch {
		case m.Here && !known:
			at.events = append(at.events, "+"+key)
		case m.Here && info != string(m.Info):
			at.events = append(at.events, "~"+key)
		case !m.Here && known:
			at.events = append(at.events, "-"+key)
		}
		if at.members[key] = string(m.Info); !m.Here {
			delete(at.members, key)
		}
	}
	for _, c := range p.Channels {
		if at.counts[c.Channel] = c.Members; c.Members == 0 {
			delete(at.counts, c.Channel)
		}
	}
	if p.Synced && v.next != nil {
		for key := range v.members {
			if _, here := v.next.members[key]; !here {
				v.events = append(v.events, "-"+key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v.next.members)) {
			if info, known := v.members[key]; !known {
				v.events = append(v.events, "+"+key)
			} else if info != v.next.members[key] {
				v.events = append(v.events, "~"+key)
			}
		}
		v.members, v.counts, v.next, v.synced = v.next.members, v.next.counts, nil, true
	}
	return nil
}

// has reports whether the members are these, each "channel subject".
func (v *presenceView) has(members ...string) bool {
	slices.Sort(members)
	return v.synced && v.next == nil && slices.Equal(slices.Sorted(maps.Keys(v.members)), members)
}

// watching is a client that watches who is present.
type watching struct {
	*socket
	tenant string
	views  map[string]*presenceView // by pattern
}

func (s *socket) watching(tenant string) *watching {
	return &watching{s, tenant, map[string]*presenceView{}}
}

// who sends a WHO, and returns what it will bring.
func (w *watching) who(pattern string, count bool) *presenceView {
	w.t.Helper()
	v := newPresenceView(pattern, count)
	w.views[pattern] = v
	w.sendLine(string(wire.AppendWho(nil, w.tenant, pattern, count)))
	for w.next() != "OK:WHO:"+w.tenant+":"+pattern {
	}
	return v
}

// refuses requires that a line is refused.
func (w *watching) refuses(code wire.Code, line string) {
	w.t.Helper()
	w.sendLine(line)
	want := "ERR:" + string(code) + ":" + strings.TrimSuffix(line, ":count")
	for {
		switch got := w.next(); got {
		case want:
			return
		case "":
		default:
			w.t.Fatalf("%s: got %q, want %q", line, got, want)
		}
	}
}

// next reads a message, and returns it if it is a line.
func (w *watching) next() (line string) {
	w.t.Helper()
	kind, message, err := w.read()
	w.must(err)
	if kind == asText {
		return string(message)
	}
	w.must(w.take(message))
	return ""
}

// take notes a frame.
func (w *watching) take(frame []byte) error {
	p, err := wire.DecodePresence(frame)
	if err != nil {
		return err
	}
	v := w.views[p.Pattern]
	if v == nil || p.Tenant != w.tenant {
		return fmt.Errorf("a frame for %s:%s, which is not watched", p.Tenant, p.Pattern)
	}
	return v.take(p)
}

// until reads frames until something holds, or the link's timeout.
func (w *watching) until(what string, holds func() bool) {
	w.t.Helper()
	for !holds() {
		kind, message, err := w.read()
		if err == nil && kind == asFrame {
			err = w.take(message)
		} else if err == nil {
			err = fmt.Errorf("the line %q", message)
		}
		if err != nil {
			for pattern, v := range w.views {
				w.t.Logf("%s: members %q, counts %v, synced %v, events %q", pattern, slices.Sorted(maps.Keys(v.members)), v.counts, v.synced, v.events)
			}
			w.t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

// untilMembers reads until a view has these members, each "channel subject".
func (w *watching) untilMembers(v *presenceView, members ...string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s has %q", v.pattern, members), func() bool { return v.has(members...) })
}

// told requires what has happened since the last call.
func (w *watching) told(v *presenceView, events ...string) {
	w.t.Helper()
	if !slices.Equal(v.events, events) {
		w.t.Fatalf("%s: was told %q, want %q", v.pattern, v.events, events)
	}
	v.events = nil
}

// join sends JOINs, and awaits the answers.
func (s *socket) join(tenant string, channels ...string) {
	s.t.Helper()
	s.ask("JOIN", tenant, channels...)
}

// quit sends LEAVEs, and awaits the answers.
func (s *socket) quit(tenant string, channels ...string) {
	s.t.Helper()
	s.ask("LEAVE", tenant, channels...)
}

func (s *socket) ask(verb, tenant string, channels ...string) {
	s.t.Helper()
	for _, channel := range channels {
		s.sendLine(verb + ":" + tenant + ":" + channel)
		s.expectText("OK:" + verb + ":" + tenant + ":" + channel)
	}
}

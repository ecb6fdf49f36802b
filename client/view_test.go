package client

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/millrace/millrace/wire"
)

// Whatever comes in whichever order, who applies the changes has what is true; and what waits
// is no more than an entry for each member.
func TestPresenceRandom(t *testing.T) {
	const subjects, channels = 6, 2
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		v := newView()
		readers := []*Presence{newTestReader(v, false), newTestReader(v, true)}
		truth := newRoster()
		v.show(newRoster())
		shownTo := [2]map[string]string{{}, {}}
		for range 200 {
			k := memberKey{fmt.Sprint(random.IntN(channels)), fmt.Sprint(random.IntN(subjects))}
			m := wire.Member{Channel: k.channel, Subject: k.subject, Here: random.IntN(2) == 0, Since: uint64(random.IntN(2))}
			switch random.IntN(12) {
			case 0: // another connection
				next := newRoster()
				for k, m := range truth.members {
					if random.IntN(4) > 0 {
						next.set(k, m)
					}
				}
				truth = newRoster()
				for k, m := range next.members {
					truth.set(k, m)
				}
				v.show(next)
			case 1, 2:
				v.tell([]wire.MemberCount{{Channel: k.channel, Members: uint32(random.IntN(4))}})
			case 3, 4, 5:
				replay(t, readers[0], shownTo[0], random.IntN(3))
			case 6:
				replay(t, readers[1], shownTo[1], random.IntN(3))
			default:
				truth.set(memberOf(&m))
				v.apply(&wire.Presence{Synced: random.IntN(4) == 0, Members: []wire.Member{m}})
			}
			if n := readers[0].told.Len(); n > subjects*channels+channels {
				t.Fatalf("%d changes wait", n)
			}
		}
		v.apply(&wire.Presence{Synced: true})
		want := [2]map[string]string{{}, {}}
		for k, m := range truth.members {
			want[0][k.channel+"/"+k.subject] = m.Since.String()
		}
		for channel, n := range truth.counts {
			want[1][channel] = fmt.Sprint(n)
		}
		for i, p := range readers {
			replay(t, p, shownTo[i], -1)
			if !maps.Equal(shownTo[i], want[i]) {
				t.Fatalf("seed %d: a reader has %v, want %v", seed, shownTo[i], want[i])
			}
			if p.told.Len() != 0 || len(p.ofMember)+len(p.ofCount) != 0 {
				t.Fatalf("seed %d: %d changes are left", seed, p.told.Len())
			}
		}
	}
}

func newTestReader(v *view, count bool) *Presence {
	p := newPresence(nil, key{}, count)
	p.view = v
	v.add(p)
	return p
}

// replay applies n changes to what a reader has, -1: all.
func replay(t *testing.T, p *Presence, has map[string]string, n int) {
	t.Helper()
	for ; n != 0; n-- {
		c, ok, err := p.take()
		must(t, err)
		if !ok {
			return
		}
		name := c.Member.Channel + "/" + c.Member.Subject
		_, had := has[name]
		switch c.Type {
		case CountChanged:
			if p.count {
				if has[c.Channel] = fmt.Sprint(c.Count); c.Count == 0 {
					delete(has, c.Channel)
				}
			}
		case MemberJoined:
			if had {
				t.Errorf("%s joins twice", name)
			}
			has[name] = c.Member.Since.String()
		case MemberChanged:
			if !had || has[name] == c.Member.Since.String() {
				t.Errorf("%s has changed from %q to %v", name, has[name], c.Member.Since)
			}
			has[name] = c.Member.Since.String()
		case MemberLeft:
			if !had || has[name] != c.Member.Since.String() {
				t.Errorf("%s leaves as %v, and was %q", name, c.Member.Since, has[name])
			}
			delete(has, name)
		}
	}
}

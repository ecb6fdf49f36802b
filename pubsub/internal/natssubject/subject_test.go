package natssubject

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func TestSubjectOfChannel(t *testing.T) {
	for _, c := range []struct{ tenant, channel, subject string }{
		{"t", "a", "t.a.="},
		{"t", "a.b.c", "t.a.b.c.="},
		{"a.b", "c", "a=b.c.="},
		{"a", "b.c", "a.b.c.="},
		{".", "a", "=.a.="},
		{"..", "a", "==.a.="},
		{"a.", "a", "a=.a.="},
		{"~@_-", "~.@._.-", "~@_-.~.@._.-.="},
		{strings.Repeat("t.", 60), strings.Repeat("c", 256), strings.Repeat("t=", 60) + "." + strings.Repeat("c", 256) + ".="},
	} {
		got := AppendChannel([]byte("p.b."), []byte(c.tenant), []byte(c.channel))
		if string(got) != "p.b."+c.subject {
			t.Errorf("%s %s: got %s, want %s", c.tenant, c.channel, got, c.subject)
		}
		if !server.IsValidLiteralSubject(string(got)) {
			t.Errorf("NATS takes no subject like %s", got)
		}
		tenant, channel, ok := SplitChannel([]byte(c.subject))
		if !ok || string(tenant) != c.tenant || string(channel) != c.channel {
			t.Errorf("%s: got %s, %s, %v", c.subject, tenant, channel, ok)
		}
	}
}

func TestUntrustedSubjects(t *testing.T) {
	for _, subject := range []string{"", ".", ".=", "..=", "t", "t.", "t.=", "t..=", ".a.=", "t.a", "t.a.", "t.a.b", "t.a=", "t.a.=.b", "t.a.=="} {
		if tenant, channel, ok := SplitChannel([]byte(subject)); ok {
			t.Errorf("%q: got %q, %q", subject, tenant, channel)
		}
	}
}

// Tenants whose names look alike have nothing in common.
func TestTenantsDoNotCollide(t *testing.T) {
	tenants := []string{"a", "b", "a.b", "a.b.c", ".", "..", "...", "a.", ".a", "a..b", "a-b", "A"}
	patterns := []string{"#", ">", "*", "a", "b", "a.#", "b.*", "b.>", "a#", "b>", "*.*"}
	channels := []string{"a", "b", "a.b", "b.c", "b.c.d", "a.b.c.d"}
	for _, of := range tenants {
		for _, text := range patterns {
			interest := "p.b." + OfPattern(of, text)
			for _, from := range tenants {
				for _, c := range channels {
					subject := string(AppendChannel([]byte("p.b."), []byte(from), []byte(c)))
					if from != of && server.SubjectsCollide(interest, subject) {
						t.Errorf("%s of tenant %s gets %s of tenant %s", text, of, c, from)
					}
				}
			}
		}
	}
}

// An interest gets all that its pattern matches from NATS.
func TestInterestHasAllThatMatches(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func(list ...string) string { return list[rnd.IntN(len(list))] }
	join := func(n int, token func() string) string {
		var tokens []string
		for range n {
			tokens = append(tokens, token())
		}
		return strings.Join(tokens, ".")
	}
	matches := map[string]int{} // by the kind of the last token
	refused := 0
	for range 200_000 {
		text := join(rnd.IntN(4), func() string { return word("a", "b", "ab", "*", "a*", "ab*") })
		last := word("a", "ab", "*", "a*", "#", ">", "a#", "ab#", "a>", "ab>")
		if text != "" {
			text += "."
		}
		text += last
		p, err := pattern.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		channel := join(1+rnd.IntN(5), func() string { return word("a", "b", "ab", "abc") })
		tenant := word("t", "t.u", ".")
		interest := "p." + OfPattern(tenant, text)
		subject := string(AppendChannel([]byte("p."), []byte(tenant), []byte(channel)))
		gets := server.SubjectsCollide(interest, subject)
		if p.Match(channel) {
			matches[last]++
			if !gets {
				t.Fatalf("%s matches %s, and %s does not get %s", text, channel, interest, subject)
			}
		} else if !gets {
			refused++
		}
	}
	if len(matches) != 10 || refused == 0 {
		t.Errorf("too little was tried: %v, and %d were refused", matches, refused)
	}
}

// An interest gets no more than wildcards for whole tokens require.
func TestInterestIsNarrow(t *testing.T) {
	for _, c := range []struct{ pattern, channel string }{
		{"a", "b"}, {"a", "a.b"}, {"a.b", "a"}, {"*", "a.b"}, {"*.*", "a"}, {"a.*", "a"}, {"a.#", "b"}, {"a.>", "a"},
		{"a.>", "b.c"}, {"a>", "a"}, {"a*", "a.b"}, {"a.b*", "a.b.c"}, {"*.b.#", "a.c"}, {"a.b>", "a.b"},
	} {
		subject := fmt.Sprintf("t.%s.=", c.channel)
		if interest := OfPattern("t", c.pattern); server.SubjectsCollide(interest, subject) {
			t.Errorf("%s gets %s", interest, subject)
		}
	}
}

func FuzzSubject(f *testing.F) {
	f.Add("t", "a.b")
	f.Add("a.b", "c")
	f.Add("~", "=")
	f.Add("", ".=")
	f.Fuzz(func(t *testing.T, tenant, channel string) {
		raw := []byte(tenant + "." + channel)
		if a, b, ok := SplitChannel(bytes.Clone(raw)); ok && !bytes.Equal(AppendChannel(nil, a, b), raw) {
			t.Errorf("%q is read as %q, %q", raw, a, b)
		}
		if wire.CheckTenant(tenant) != nil || wire.CheckChannel(channel) != nil {
			return
		}
		subject := AppendChannel(nil, []byte(tenant), []byte(channel))
		if !server.IsValidLiteralSubject(string(subject)) || !server.SubjectsCollide(OfPattern(tenant, channel), string(subject)) {
			t.Errorf("NATS does not take %q, or does not find it", subject)
		}
		a, b, ok := SplitChannel(subject)
		if !ok || string(a) != tenant || string(b) != channel {
			t.Errorf("%q, %q became %q, %q, %v", tenant, channel, a, b, ok)
		}
	})
}

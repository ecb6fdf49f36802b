package wire

import (
	"bytes"
	"testing"
)

type presenceFields struct {
	Tenant   string        `json:"tenant"`
	Pattern  string        `json:"pattern"`
	First    bool          `json:"first"`
	Synced   bool          `json:"synced"`
	Counts   bool          `json:"counts"`
	Members  []memberField `json:"members"`
	Channels []countField  `json:"channels"`
}

type memberField struct {
	Channel string `json:"channel"`
	Subject string `json:"subject"`
	Here    bool   `json:"here"`
	Since   uint64 `json:"since"`
	Info    string `json:"info"`
}

type countField struct {
	Channel string `json:"channel"`
	Members uint32 `json:"members"`
}

var presenceCodec = codec[presenceFields, Presence]{
	file: "presence.json", broken: ErrBadFrame, decode: DecodePresence,
	fields: func(p Presence) presenceFields {
		f := presenceFields{Tenant: p.Tenant, Pattern: p.Pattern, First: p.First, Synced: p.Synced, Counts: p.Counts}
		for _, m := range p.Members {
			f.Members = append(f.Members, memberField{m.Channel, m.Subject, m.Here, m.Since, string(m.Info)})
		}
		for _, c := range p.Channels {
			f.Channels = append(f.Channels, countField(c))
		}
		return f
	},
	again: func(t *testing.T, b []byte, p Presence) {
		again := AppendPresence(nil, &p, len(p.Members)+len(p.Channels))
		for i := range p.Members {
			again = AppendMember(again, &p.Members[i])
		}
		for _, c := range p.Channels {
			again = AppendMemberCount(again, c)
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%x encodes again to %x", b, again)
		}
		if IsUnknownFrame(b) || !IsPresence(b) {
			t.Errorf("%x is unknown, and decodes", b)
		}
	},
}

func TestDecodePresence(t *testing.T) {
	c := presenceCodec
	c.more = func(t *testing.T, v vector[presenceFields], _ Presence) {
		if ignored := IsUnknownFrame(v.Input); ignored != v.Expect.Ignored {
			t.Errorf("ignored: %v", ignored)
		}
		if _, err := DecodeDeliver(v.Input); err == nil {
			t.Error("it is a deliver frame, too")
		}
		if v.Expect.Error == "" {
			presenceCodec.truncated(t, v.Input)
		}
	}
	c.test(t)
}

func FuzzDecodePresence(f *testing.F) { presenceCodec.fuzz(f) }

// What is decoded is a copy: the caller keeps members, and reads the next frame.
func TestDecodePresenceCopies(t *testing.T) {
	p := Presence{Tenant: "t", Pattern: "a"}
	b := AppendMember(AppendPresence(nil, &p, 1), &Member{Channel: "a", Subject: "ann", Here: true, Info: []byte("{}")})
	got, err := DecodePresence(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if m := got.Members[0]; m.Channel != "a" || m.Subject != "ann" || string(m.Info) != "{}" {
		t.Errorf("got %+v", m)
	}
}

// A number of entries that is a lie must not cost memory.
func TestDecodePresenceBoundsAllocation(t *testing.T) {
	for _, counts := range []bool{false, true} {
		lie := AppendPresence(nil, &Presence{Counts: counts}, 65535)
		if n := testing.AllocsPerRun(100, func() { _, _ = DecodePresence(lie) }); n > 2 {
			t.Errorf("counts %v: 65,535 entries announced, none there: %v allocations", counts, n)
		}
	}
}

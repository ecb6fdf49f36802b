package nats

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// What a build of before 0.1.0 has left in NATS, which names no format: the definitions, and
// messages and notes of the stream, by their numbers.
const document1 = `{"histories":{"h":{"epoch":"52b6705195eaf253","created":true,"tenants":["t*"],"channels":["#"],"messages":3,"age_ms":3600000,"size":268435456}}}`

var stream1 = [][2]string{
	{"p.q.h.h.c.mark.6", ""}, {"p.q.h.h.c.mark.57", ""},
	{"p.q.h.h.m.t.a.b.=", "a0"}, {"p.q.h.h.m.t.a.b.=", "a1"}, {"p.q.h.h.m.t.a.b.=", "a2"}, {"p.q.h.h.m.t.a.b.=", "a3"}, {"p.q.h.h.m.t.a.b.=", "a4"},
	{"p.q.h.h.c.purge.t.a.c.=", "LCYFSLBVPICGXSITVPG23SK3NG"}, {"p.q.h.h.m.t.a.d.=", "last"},
}

func TestFormat1(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	js := operator(t, s.ClientURL())
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "p-dq_histories", MaxBytes: 4 << 20})
	must(t, err)
	must(t, errorOf(kv.PutString(t.Context(), "definitions", document1)))
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "p-dq_history_h", Subjects: []string{"p.q.h.h.>"}, MaxBytes: 268435456, MaxAge: 3600e9, MaxMsgsPerSubject: 19, AllowDirect: true,
	}); err != nil {
		t.Fatal(err)
	}
	for _, m := range stream1 {
		must(t, errorOf(js.Publish(t.Context(), m[0], []byte(m[1]))))
	}

	a := open(t, natstest.Connect(s), func(c *Config) { c.Prefix = "p.q" })
	d := definition("h", func(d *history.Definition) { d.Limits.Messages, d.Tenants = 3, []string{"t*"} })
	define(t, a, d)
	follow(t, a, "h")
	page := read(t, a, query("h", "t", "#", 0))
	var got []string
	for _, m := range page.Messages {
		got = append(got, string(m.Payload))
	}
	if strings.Join(got, " ") != "a2 a3 a4 last" || page.Messages[0].Position.Epoch != 0x52b6705195eaf253 || page.Messages[3].Position.N != 9 {
		t.Errorf("got %q, %+v", got, page.Messages)
	}
	if next := put(t, a, "h", "t", "a.b", "next"); next.Epoch != 0x52b6705195eaf253 {
		t.Errorf("the next message is at %v", next)
	}
	d.Limits.Messages = 4
	define(t, a, d)
	entry, err := kv.Get(t.Context(), "definitions")
	if err != nil || !strings.HasPrefix(string(entry.Value()), `{"format":1,"histories":{"h":{"epoch":"52b6705195eaf253"`) {
		t.Errorf("the definitions are now %s, %v", entry.Value(), err)
	}
}

// Definitions of a later format are refused and stay as they are, whoever defines, publishes
// or retires, and histories are out of reach until the format is a known one again.
func TestLaterFormat(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	core, logs := observer.New(zap.WarnLevel)
	a := open(t, natstest.Connect(s), impatient, withShortCalls, func(c *Config) { c.Log = zap.New(core) })
	define(t, a, definition("h"))
	follow(t, a, "h")
	first := awaitPut(t, a, "1")
	kv, err := operator(t, s.ClientURL()).KeyValue(t.Context(), "p_histories")
	must(t, err)
	entry, err := kv.Get(t.Context(), "definitions")
	must(t, err)
	known := string(entry.Value())
	later := strings.Replace(known, `"format":1`, `"new":[],"format":2`, 1)
	if later == known {
		t.Fatalf("the definitions name no format: %s", known)
	}
	revision, err := kv.PutString(t.Context(), "definitions", later)
	must(t, err)
	b := open(t, natstest.Connect(s), impatient, withShortCalls) // one that has not known the definitions before
	_ = b.Define(definition("h"))
	starts := make(chan error, 1)
	go func() { starts <- try(b, "h", "t", "c", "3").Err }() // ends with the answer
	await(t, "the history to be out of reach", func() bool { return errors.Is(try(a, "h", "t", "c", "2").Err, history.ErrUnavailable) })
	must(t, a.Define(definition("h", func(d *history.Definition) { d.Limits.Messages = 7 })))
	_ = a.Define(definition("other", func(d *history.Definition) { d.Tenants = []string{"o"} }))
	await(t, "Retire to be refused", func() bool { // it has less time than a busy machine may need
		err := a.Retire("h")
		return err != nil && strings.Contains(err.Error(), "has format 2") && strings.Contains(err.Error(), "reads format 1")
	})
	if err := natstest.Receive(t, "an answer", starts); !errors.Is(err, history.ErrUnavailable) {
		t.Errorf("an edge that starts: %v", err)
	}
	if entry, err = kv.Get(t.Context(), "definitions"); err != nil || entry.Revision() != revision {
		t.Errorf("the definitions are now %s, %v", entry.Value(), err)
	}
	await(t, "a warning", func() bool {
		for _, line := range logs.All() {
			if text, _ := line.ContextMap()["error"].(string); strings.Contains(text, "the bucket with the definitions of histories has format 2") {
				return true
			}
		}
		return false
	})

	must(t, errorOf(kv.PutString(t.Context(), "definitions", known)))
	var next wire.Position
	await(t, "the history to be back", func() bool {
		r := try(a, "h", "t", "c", "4")
		next = r.Position
		return r.Err == nil
	})
	if next.Epoch != first.Epoch {
		t.Errorf("the history is at %v, was at %v", next, first)
	}
}

package nats

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// All edges follow one definition: that of who was first, until an edge that had it changes
// it.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	logged, logs := observer.New(zap.WarnLevel)
	a := open(t, natstest.Connect(s))
	b := open(t, natstest.Connect(s), func(c *Config) { c.Log = zap.New(logged) })
	fa, fb := join(a), join(b)
	define(t, a, definition("h"))
	define(t, b, definition("h", func(d *history.Definition) { d.Limits.Messages = 7 }))
	is := func(f *follower, messages int) func() bool {
		return func() bool { h := f.set.Find("h"); return h != nil && h.Limits.Messages == messages }
	}
	fb.await(t, "the definition of the first", is(fb, 100))
	await(t, "a line about the difference", func() bool {
		lines := logs.FilterField(zap.String("kept", "messages 100 (configured: 7)")).All()
		return len(lines) == 1 && lines[0].ContextMap()["history"] == "h" && strings.Contains(lines[0].ContextMap()["remedy"].(string), "`version 1`")
	})
	// The same again changes nothing; another one does, as it is a reload.
	define(t, b, definition("h", func(d *history.Definition) { d.Limits.Messages = 7 }))
	fb.await(t, "the definition of the first", is(fb, 100))
	define(t, b, definition("h", func(d *history.Definition) { d.Limits.Messages = 8 }))
	fa.await(t, "the changed definition", is(fa, 8))
	if fa.since["h"] != 0 {
		t.Errorf("it keeps its channels since %d", fa.since["h"])
	}
	for i := range 10 {
		put(t, a, "h", "t", "c", string(rune('a'+i)))
	}
	if page := read(t, a, query("h", "t", "#", 0)); len(page.Messages) != 8 || page.Removed.N == 0 {
		t.Errorf("%+v", page)
	}
	// Other channels are kept since now.
	before := uint64(time.Now().UnixMilli())
	define(t, a, definition("h", func(d *history.Definition) { d.Channels = []string{"c.#"} }))
	fb.await(t, "other channels", func() bool { return fb.since["h"] >= before && fb.set.Find("h").Channels[0] == "c.#" })
	// Two histories share no channel, whoever defines them.
	if err := b.Define(definition("other", func(d *history.Definition) { d.Channels = []string{"#"} })); err == nil || !strings.Contains(err.Error(), "share channels") {
		t.Errorf("a history that shares channels: %v", err)
	}
	define(t, b, definition("other", func(d *history.Definition) { d.Channels = []string{"d"} }))
	fa.await(t, "a second history", func() bool { return fa.set.Find("other") != nil })
	// One that is retired keeps what it has, and comes back.
	must(t, b.Retire("h"))
	fa.await(t, "the end of a history", func() bool { return fa.set.Find("h") == nil })
	if list, err := a.Usage(); err != nil || len(list) != 1 || list[0].Messages != 8 {
		t.Errorf("usage %+v, %v", list, err)
	}
	back := uint64(time.Now().UnixMilli())
	define(t, b, definition("h", func(d *history.Definition) { d.Channels = []string{"c.#"} }))
	fa.await(t, "the history", func() bool { return fa.set.Find("h") != nil && fa.since["h"] >= back })
	// Another overlay has nothing of this.
	other := open(t, natstest.Connect(s), func(c *Config) { c.Prefix = "q" })
	f := join(other)
	define(t, other, definition("mine"))
	f.await(t, "its own history", func() bool { return f.set.Find("mine") != nil && f.set.Find("h") == nil })
}

// Definitions that this version does not take, as an operator or a later version may have
// put them there, end no edge.
func TestBadDocument(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no record":   `{"histories": {"h": null, "other": null}}`,
		"no limits":   `{"histories": {"h": {"epoch": "0000000000000001", "channels": ["a"]}}}`,
		"high limits": `{"histories": {"h": {"epoch": "0000000000000001", "channels": ["a"], "messages": 10000000, "age_ms": 3600000, "size": 1048576}}}`,
		"retired":     `{"histories": {"h": {"epoch": "0000000000000001", "channels": ["a"], "retired": true}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t)
			kv, err := operator(t, s.ClientURL()).CreateKeyValue(context.Background(), jetstream.KeyValueConfig{Bucket: "p_histories", MaxBytes: 1 << 20})
			must(t, err)
			must(t, errorOf(kv.PutString(context.Background(), "definitions", text)))
			a := open(t, natstest.Connect(s), impatient)
			_ = a.Define(definition("h"))
			_ = try(a, "h", "t", "c", "1")
			must(t, a.Define(definition("h", func(d *history.Definition) { d.Limits.Messages = 7 })))
			awaitPut(t, a, "2")
		})
	}
}

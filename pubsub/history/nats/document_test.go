package nats

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

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

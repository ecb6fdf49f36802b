package nats

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// Each history of the configuration that cannot be used is named, with the reason, also one that nobody uses here.
func TestUnusable(t *testing.T) {
	t.Parallel()
	named := func(t *testing.T, s *Store, is error, text string) {
		t.Helper()
		await(t, "the history to be named", func() bool {
			err := s.States()["h"].Err
			return err != nil && (is == nil || errors.Is(err, is)) && strings.Contains(err.Error(), text)
		})
		if s.States()["h"].InUse {
			t.Error("it counts as used")
		}
	}
	fine := func(t *testing.T, s *Store) {
		t.Helper()
		await(t, "the history to be usable", func() bool { state := s.States()["h"]; return state.Err == nil && state.Effective != nil })
	}

	t.Run("no JetStream", func(t *testing.T) {
		t.Parallel()
		s := open(t, natstest.Connect(natstest.Server(t, natstest.Core)), impatient, withShortCalls)
		define(t, s, definition("h"))
		await(t, "the reason", func() bool { return s.States()["h"].Err != nil })
		if why := s.States()["h"].Err; errors.Is(why, errNotReceived) || errors.Is(why, context.Canceled) {
			t.Errorf("no reason: %v", why)
		}
	})
	t.Run("too few servers", func(t *testing.T) {
		t.Parallel()
		by := natstest.Connect(natstest.Server(t))
		a := open(t, by)
		define(t, a, definition("other", func(d *history.Definition) { d.Channels = []string{"other"} })) // makes the bucket
		s := open(t, by, impatient, func(c *Config) { c.Replicas = 3 })
		d := definition("h", func(d *history.Definition) { d.Channels = []string{"c"} })
		define(t, s, d)
		named(t, s, ErrStream, "3 replicas")
		s.SetOptions(Options{Replicas: 1})
		fine(t, s)
	})
	t.Run("channels of another history", func(t *testing.T) {
		t.Parallel()
		server := natstest.Server(t)
		link := natstest.StartProxy(t, server)
		link.Hold()
		s := open(t, link.Connect(), impatient)
		define(t, s, definition("h")) // while NATS is out of reach
		f := join(s)
		a := open(t, natstest.Connect(server))
		define(t, a, definition("other"))
		link.Resume()
		named(t, s, history.ErrOverlap, "the histories h and other share")
		f.await(t, "the histories of others", func() bool { return f.set.Find("other") != nil && f.set.Find("h") == nil })
		define(t, a, definition("other", func(d *history.Definition) { d.Channels = []string{"elsewhere"} }))
		must(t, a.Retire("other"))
		fine(t, s)
	})
	t.Run("channels of another history, at the start", func(t *testing.T) {
		t.Parallel()
		by := natstest.Connect(natstest.Server(t))
		a := open(t, by)
		define(t, a, definition("other"))
		s := open(t, by, impatient)
		define(t, s, definition("h"))
		named(t, s, history.ErrOverlap, "the histories h and other share")
		join(s)
		if err := s.Define(definition("third")); !errors.Is(err, history.ErrOverlap) {
			t.Errorf("by a reload: %v", err)
		}
		must(t, a.Retire("other"))
		fine(t, s)
	})
	t.Run("a later format", func(t *testing.T) {
		t.Parallel()
		server := natstest.Server(t)
		s := open(t, natstest.Connect(server), impatient)
		define(t, s, definition("h"))
		fine(t, s)
		kv, err := operator(t, server.ClientURL()).KeyValue(t.Context(), "p_histories")
		must(t, err)
		entry, err := kv.Get(t.Context(), "definitions")
		must(t, err)
		must(t, errorOf(kv.PutString(t.Context(), "definitions", `{"format":2}`)))
		named(t, s, history.ErrFormat, "has format 2")
		must(t, errorOf(kv.Put(t.Context(), "definitions", entry.Value())))
		fine(t, s)
	})
	t.Run("definitions that are not valid", func(t *testing.T) {
		t.Parallel()
		server := natstest.Server(t)
		kv, err := operator(t, server.ClientURL()).CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "p_histories", MaxBytes: 1 << 20})
		must(t, err)
		must(t, errorOf(kv.PutString(t.Context(), "definitions", `{"histories": {"other": {"epoch": "01", "channels": ["a"]}}}`)))
		link := natstest.StartProxy(t, server)
		link.Hold()
		s := open(t, link.Connect(), impatient)
		define(t, s, definition("h")) // while NATS is out of reach
		link.Resume()
		named(t, s, nil, "messages: must be from 1")
	})
	t.Run("retired at another edge", func(t *testing.T) {
		t.Parallel()
		a, s, _ := openTwo(t)
		must(t, a.Retire("h"))
		named(t, s, history.ErrRetired, "")
	})
}

// A history that cannot be used is named, and what the others keep is listed.
func TestUsageOfSome(t *testing.T) {
	t.Parallel()
	by := natstest.Connect(natstest.Server(t))
	a := open(t, by)
	define(t, a, definition("h", func(d *history.Definition) { d.Channels = []string{"c"} }))
	put(t, a, "h", "t", "c", "1")
	s := open(t, by, impatient, func(c *Config) { c.Replicas = 3 })
	define(t, s, definition("other", func(d *history.Definition) { d.Channels = []string{"o"} }))
	await(t, "the first history alone", func() bool {
		list, err := s.Usage()
		var partly *history.UsageError
		return errors.As(err, &partly) && len(partly.Histories) == 1 && partly.Histories["other"] != nil && len(list) == 1 && list[0].Messages == 1
	})
}

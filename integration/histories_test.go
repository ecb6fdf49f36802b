package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// Random publishers and subscribers, over both transports, while reloads change what the
// history keeps. Who was told complete has everything, and every loss was told.
func TestHistoriesMemory(t *testing.T) {
	t.Parallel()
	for range soakCount(t, 1, 100) {
		seed := seed(t)
		e := startEdge(t, historyCaddyfile("memory"))
		r := newHistoryRun(t, seed, e)
		r.start(3, 6)
		r.startClients(historyKinds())
		random := r.random(1)
		limits := [][]string{{"messages 10"}, {"messages 100"}, {"messages 1000", "age 2s"}, {"messages 1000", "size 1MiB"}, {"messages 1000", "max_lag 1s"}}
		for end := time.Now().Add(soakFor(t, 6*time.Second, 15*time.Second)); time.Now().Before(end); {
			pauseRandomly(random, 1500, nil)
			if random.IntN(4) == 0 {
				e.admin("history", "purge", "chat", "--tenant", "paint.a", "--channel", fmt.Sprintf("chat.%d", random.IntN(5))).want(0, "messages are deleted", "")
			} else {
				e.reload(historyCaddyfile("memory", limits[random.IntN(len(limits))]...))
			}
		}
		r.finish()
		e.stop()
	}
}

// The same with a history on disk, while the edge is killed and started again.
func TestHistoriesOfKilledEdges(t *testing.T) {
	t.Parallel()
	for range soakCount(t, 1, 100) {
		seed := seed(t)
		dir := t.TempDir()
		file := func(options ...string) string { return historyCaddyfile("badger "+dir+"/histories", options...) }
		e := startEdge(t, file("messages 1000"), inDir(dir))
		r := newHistoryRun(t, seed, e)
		r.start(3, 6)
		r.startClients(historyKinds())
		random := r.random(1)
		end := time.Now().Add(soakFor(t, time.Second, 15*time.Second))
		for kills := 0; kills < 3 || time.Now().Before(end); kills++ {
			pauseRandomly(random, 2000, nil)
			if random.IntN(2) == 0 {
				e.reload(file(fmt.Sprintf("messages %d", []int{10, 100, 1000}[random.IntN(3)])))
			}
			e.kill()
			e = startEdge(t, file("messages 1000"), inDir(dir), replacing(e))
			r.edges[0].Store(e)
		}
		pauseRandomly(random, 2000, nil)
		r.finish()
		e.stop()
	}
}

// replacing gives an edge the ports, the master token, the store and the broker of one that
// is gone.
func replacing(gone *edge) option {
	return func(e *edge) {
		e.Store, e.Broker = gone.Store, gone.Broker
		e.HTTP, e.HTTPS, e.Admin, e.master, e.env = gone.HTTP, gone.HTTPS, gone.Admin, gone.master, slices.Clone(gone.env[:1])
	}
}

// What operators see of a history, and delete.
func TestHistoryCommands(t *testing.T) {
	t.Parallel()
	e := startEdge(t, historyCaddyfile("badger {{.Dir}}/histories"))
	s := e.dial(e.issue(allowHistory("paint.a")).Token)
	for i := range 3 {
		s.sendFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: uint32(i), Tenant: []byte("paint.a"), Channel: fmt.Appendf(nil, "chat.%d", i%2), Payload: fmt.Appendf(nil, "m%d\x1b", i),
		}))
		if kind, line, err := s.read(); err != nil || kind != asText || !strings.HasPrefix(string(line), fmt.Sprintf("OK:PUB:%d:", i)) {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	e.admin("history", "list").want(0, "HISTORY", "").want(0, "paint.a", "")
	e.admin("history", "read", "chat", "paint.a", "chat.#").want(0, ` chat.0 "m0\x1b"`, "").want(0, ` chat.1 "m1\x1b"`, "")
	if got := e.admin("history", "read", "chat", "paint.a", "chat.0", "--limit", "1"); strings.Contains(got.out, "m2") || strings.Contains(got.out, "\x1b") {
		t.Errorf("got %q", got.out)
	}
	e.admin("history", "read", "none", "paint.a", "#").want(1, "", "(404 unknown_history)")
	e.admin("history", "read", "chat", "paint.a", "a..b").want(1, "", "pattern: ")
	e.admin("history", "purge", "chat").want(2, "", "give either --tenant")
	e.admin("history", "purge", "chat", "--tenant", "paint.a", "--channel", "chat.0").want(0, "2 messages are deleted.", "")
	e.admin("history", "read", "chat", "paint.a", "#").want(0, "m1", "")
	e.admin("history", "purge", "chat", "--all").want(0, "1 messages are deleted.", "")

	// A history that is taken out of the configuration is there until it is deleted.
	s.sendFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 9, Tenant: []byte("paint.a"), Channel: []byte("chat.9")}))
	if _, line, err := s.read(); err != nil || !strings.HasPrefix(string(line), "OK:PUB:9:") {
		t.Fatalf("got %q, %v", line, err)
	}
	s.sendLine("RSUB:paint.a:chat.9:last")
	for range 2 { // the message, and OK:RSUB
		if _, _, err := s.read(); err != nil {
			t.Fatal(err)
		}
	}
	e.reload(strings.Replace(defaultCaddyfile, "drain 7s", "drain 7s\n\t\thistory_store badger {{.Dir}}/histories", 1))
	s.expectText("ERR:no_history:RSUB:paint.a:chat.9")
	e.admin("history", "list").want(0, "paint.a", "")
	e.admin("history", "purge", "chat", "--all").want(0, "1 messages are deleted.", "")
	e.reload(defaultCaddyfile)
	e.admin("history", "list").want(1, "", "(404 no_histories)")
	s.sendLine("FEATURES")
	s.expectText("FEATURES:link,sender")
}

package histories

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// Random publishers and subscribers, over both transports, while reloads change what the
// history keeps. Who was told complete has everything, and every loss was told.
func TestHistoriesMemory(t *testing.T) {
	t.Parallel()
	for range harness.SoakCount(t, 1, 100) {
		seed := harness.Seed(t)
		e := harness.StartEdge(t, history.Caddyfile("memory"))
		r := history.NewHistoryRun(t, seed, e)
		r.StartClients(history.Kinds())
		r.Start(3, 6)
		random := r.Random(1)
		limits := [][]string{{"messages 10"}, {"messages 100"}, {"messages 1000", "age 2s"}, {"messages 1000", "size 1MiB"}, {"messages 1000", "max_lag 1s"}}
		for end := time.Now().Add(harness.SoakFor(t, 6*time.Second, 15*time.Second)); time.Now().Before(end); {
			history.PauseRandomly(random, 1500, nil)
			if random.IntN(4) == 0 {
				e.AdminCLI("history", "purge", "chat", "--tenant", "paint.a", "--channel", fmt.Sprintf("chat.%d", random.IntN(5))).Want(0, "messages are deleted", "")
			} else {
				e.Reload(history.Caddyfile("memory", limits[random.IntN(len(limits))]...))
			}
		}
		r.Finish()
		e.Stop()
	}
}

// The same with a history on disk, while the edge is killed and started again.
func TestHistoriesOfKilledEdges(t *testing.T) {
	t.Parallel()
	for range harness.SoakCount(t, 1, 100) {
		seed := harness.Seed(t)
		dir := t.TempDir()
		file := func(options ...string) string { return history.Caddyfile("badger "+dir+"/histories", options...) }
		e := harness.StartEdge(t, file("messages 1000"), harness.InDir(dir))
		r := history.NewHistoryRun(t, seed, e)
		r.StartClients(history.Kinds())
		r.Start(3, 6)
		random := r.Random(1)
		end := time.Now().Add(harness.SoakFor(t, time.Second, 15*time.Second))
		for kills := 0; kills < 3 || time.Now().Before(end); kills++ {
			history.PauseRandomly(random, 2000, nil)
			if random.IntN(2) == 0 {
				e.Reload(file(fmt.Sprintf("messages %d", []int{10, 100, 1000}[random.IntN(3)])))
			}
			e.Kill()
			e = harness.StartEdge(t, file("messages 1000"), harness.InDir(dir), harness.Replacing(e))
			r.Edges[0].Store(e)
		}
		history.PauseRandomly(random, 2000, nil)
		r.Finish()
		e.Stop()
	}
}

// What operators see of a history, and delete.
func TestHistoryCommands(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, history.Caddyfile("badger {{.Dir}}/histories"))
	s := e.Dial(e.Issue(history.AllowHistory("paint.a")).Token)
	for i := range 3 {
		s.SendFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: uint32(i), Tenant: []byte("paint.a"), Channel: fmt.Appendf(nil, "chat.%d", i%2), Payload: fmt.Appendf(nil, "m%d\x1b", i),
		}))
		if kind, line, err := s.Read(); err != nil || kind != harness.AsText || !strings.HasPrefix(string(line), fmt.Sprintf("OK:PUB:%d:", i)) {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	e.AdminCLI("history", "list").Want(0, "HISTORY", "").Want(0, "paint.a", "")
	e.AdminCLI("history", "read", "chat", "paint.a", "chat.#").Want(0, ` chat.0 "m0\x1b"`, "").Want(0, ` chat.1 "m1\x1b"`, "")
	if got := e.AdminCLI("history", "read", "chat", "paint.a", "chat.0", "--limit", "1"); strings.Contains(got.Out, "m2") || strings.Contains(got.Out, "\x1b") {
		t.Errorf("got %q", got.Out)
	}
	e.AdminCLI("history", "read", "none", "paint.a", "#").Want(1, "", "(404 unknown_history)")
	e.AdminCLI("history", "read", "chat", "paint.a", "a..b").Want(1, "", "pattern: ")
	e.AdminCLI("history", "purge", "chat").Want(2, "", "give either --tenant")
	e.AdminCLI("history", "purge", "chat", "--tenant", "paint.a", "--channel", "chat.0").Want(0, "2 messages are deleted.", "")
	e.AdminCLI("history", "read", "chat", "paint.a", "#").Want(0, "m1", "")
	e.AdminCLI("history", "purge", "chat", "--all").Want(0, "1 messages are deleted.", "")

	// A history that is taken out of the configuration is there until it is deleted.
	s.SendFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 9, Tenant: []byte("paint.a"), Channel: []byte("chat.9")}))
	if _, line, err := s.Read(); err != nil || !strings.HasPrefix(string(line), "OK:PUB:9:") {
		t.Fatalf("got %q, %v", line, err)
	}
	s.SendLine("RSUB:paint.a:chat.9:last")
	for range 2 { // the message, and OK:RSUB
		if _, _, err := s.Read(); err != nil {
			t.Fatal(err)
		}
	}
	e.Reload(strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\thistory_store badger {{.Dir}}/histories", 1))
	s.ExpectText("ERR:no_history:RSUB:paint.a:chat.9")
	e.AdminCLI("history", "list").Want(0, "paint.a", "")
	e.AdminCLI("history", "purge", "chat", "--all").Want(0, "1 messages are deleted.", "")
	e.Reload(harness.DefaultCaddyfile)
	e.AdminCLI("history", "list").Want(1, "", "(404 no_histories)")
	s.SendLine("FEATURES")
	s.ExpectText("FEATURES:link,sender")
}

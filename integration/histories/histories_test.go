package histories

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
)

// Random publishers and subscribers, over both transports, while reloads change what the
// history keeps. Who was told complete has everything, and every loss was told.
func TestHistoriesMemory(t *testing.T) {
	t.Parallel()
	for range harness.SoakCount(t, 1, 100) {
		seed := harness.Seed(t)
		e := harness.StartEdge(t, history.Caddyfile("memory"))
		r := newRun(t, seed, e)
		r.StartClients()
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
		r := newRun(t, seed, e)
		r.StartClients()
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
			r.edges[0].Store(e)
		}
		history.PauseRandomly(random, 2000, nil)
		r.Finish()
		e.Stop()
	}
}

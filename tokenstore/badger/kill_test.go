package badger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// killDirEnv turns the test binary into a process that writes into the
// directory that it names until it is killed.
const killDirEnv = "TOKENSTORE_KILL_DIR"

const (
	killWriters = 4
	killWithin  = 300 // acknowledged operations of a round, at most
)

// killRounds is how often the writer is killed: in a soak, until that has happened at
// many moments of a write.
func killRounds() int {
	if os.Getenv("MILLRACE_SOAK") != "" {
		return 1000
	}
	return 6
}

// The child prints a line for every operation: "begin <op> <id>" before those
// that take something away, "<op> <id> <detail>" after it was acknowledged.
const (
	opBegin   = "begin"
	opIssue   = "issue"   // detail: the token
	opRefresh = "refresh" // detail: the new end
	opRevoke  = "revoke"
	opMaster  = "master" // detail: the token
	opDelete  = "delete" // of a master
)

func writeUntilKilled(dir string) {
	store, err := Open(Config{Dir: dir, Reserve: DefaultReserve})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	service, err := tokenstore.NewService(store, tokenstore.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var mu sync.Mutex
	say := func(words ...string) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := fmt.Println(strings.Join(words, " ")); err != nil {
			os.Exit(1) // the parent is gone
		}
	}
	var wg sync.WaitGroup
	for range killWriters {
		wg.Go(func() {
			for n := 0; ; n++ {
				if err := writeOnce(service, n, say); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		})
	}
	wg.Wait()
}

// writeOnce makes one token and one master go through their lives; every third
// of them is left alive.
func writeOnce(s *tokenstore.Service, n int, say func(...string)) error {
	ctx, all := context.Background(), s.Overlay()
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	issued, err := s.Issue(ctx, all, tokenstore.IssueRequest{
		CreatedBy: "kill test",
		Right: tokenstore.Right{
			TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{"t"}, AllowChannelsPub: []string{"#"}}},
			ExpiresAt:    end.Format(time.RFC3339),
		},
	})
	if err != nil {
		return err
	}
	say(opIssue, issued.TokenID, issued.Token)
	for i := range 3 {
		end := end.Add(time.Duration(i+1) * time.Minute).Format(time.RFC3339)
		if _, err := s.Refresh(ctx, all, issued.TokenID, tokenstore.Expiry{At: end}); err != nil {
			return err
		}
		say(opRefresh, issued.TokenID, end)
	}
	m, token, err := s.CreateMaster(ctx, tokenstore.MasterSpec{Name: "kill"})
	if err != nil {
		return err
	}
	say(opMaster, m.ID, token)
	if n%3 == 0 {
		return nil
	}
	say(opBegin, opRevoke, issued.TokenID)
	if _, err := s.Revoke(ctx, all, issued.Token); err != nil {
		return err
	}
	say(opRevoke, issued.TokenID)
	say(opBegin, opDelete, m.ID)
	if _, err := s.DeleteMaster(ctx, m.ID, false); err != nil {
		return err
	}
	say(opDelete, m.ID)
	return nil
}

// known is what the parent knows about one token of either kind.
type known struct {
	master   bool
	token    string
	end      time.Time // at least
	ending   bool      // a revocation or deletion was begun
	finished bool      // and acknowledged
}

// TestKill kills a writing process several times on one directory, and finds
// every operation that was acknowledged in any round.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := map[string]*known{}
	var lastVersion uint64
	rounds := killRounds()
	for round := range rounds {
		killAfter := 1 + rand.IntN(killWithin)
		acknowledged := killRound(t, dir, tokens, killAfter)
		if acknowledged < killAfter {
			t.Fatalf("round %d: the process ended after %d operations", round, acknowledged)
		}
		store := open(t, dir)
		checkKnown(t, store, tokens)
		version, err := store.Create(t.Context(), tokenstore.Record{
			Kind: tokenstore.KindMaster, ID: fmt.Sprint("round-", round), Value: []byte("{}"),
		})
		must(t, err)
		if err := store.Scan(t.Context(), tokenstore.KindAccess, "", func(rec tokenstore.Record) bool {
			lastVersion = max(lastVersion, rec.Version)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if version <= lastVersion {
			t.Errorf("round %d: version %d was given out again, %d was in use", round, version, lastVersion)
		}
		lastVersion = version
		must(t, store.Close())
	}
	t.Logf("%d tokens over %d rounds", len(tokens), rounds)
}

// killRound starts the writer, kills it after so many acknowledged operations, and
// returns how many there were in the end.
func killRound(t *testing.T, dir string, tokens map[string]*known, killAfter int) (acknowledged int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killDirEnv+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() { // to the end: what was printed before the kill counts
		if readLine(t, tokens, strings.Fields(lines.Text())) {
			acknowledged++
		}
		if acknowledged == killAfter {
			must(t, child.Process.Kill()) // SIGKILL
		}
	}
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the process was not killed: %v", err)
	}
	return acknowledged
}

// readLine reads one line of the writer and reports whether it acknowledges an
// operation.
func readLine(t *testing.T, tokens map[string]*known, words []string) bool {
	t.Helper()
	switch words[0] {
	case opBegin:
		tokens[words[2]].ending = true
		return false
	case opIssue:
		tokens[words[1]] = &known{token: words[2]}
	case opMaster:
		tokens[words[1]] = &known{token: words[2], master: true}
	case opRefresh:
		end, err := time.Parse(time.RFC3339, words[2])
		must(t, err)
		tokens[words[1]].end = end
	case opRevoke, opDelete:
		tokens[words[1]].finished = true
	default:
		t.Fatalf("the writer said %q", words)
	}
	return true
}

func checkKnown(t *testing.T, store *Store, tokens map[string]*known) {
	t.Helper()
	service, err := tokenstore.NewService(store, tokenstore.Config{})
	must(t, err)
	for id, k := range tokens {
		var err, refused error
		if k.master {
			refused = tokenstore.ErrBadMasterToken
			_, err = service.AuthenticateMaster(t.Context(), k.token, netip.Addr{})
		} else {
			refused = tokenstore.ErrUnauthorized
			var a *tokenstore.Access
			a, err = service.Authenticate(t.Context(), k.token)
			if err == nil && a.ExpiresAt.Before(k.end) {
				t.Errorf("%s ends at %v: the refresh to %v is lost", id, a.ExpiresAt, k.end)
			}
			if info, getErr := store.Get(t.Context(), tokenstore.KindAccess, id); getErr != nil || len(info.Value) == 0 {
				t.Errorf("%s is lost: %v", id, getErr)
			}
		}
		switch {
		case k.finished && !errors.Is(err, refused):
			t.Errorf("%s: the acknowledged revocation or deletion is lost (%v)", id, err)
		case !k.ending && err != nil:
			t.Errorf("%s: %v, though it was acknowledged and never taken away", id, err)
		}
	}
}

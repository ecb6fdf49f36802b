package harness

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// GuessUntilLimited guesses until a guess is limited. It returns that answer, and how many
// guesses were answered before. The guesses are concurrent: a busy machine makes too few
// in a second if they are sequential.
func GuessUntilLimited(t *testing.T, guess func() Answer) (held Answer, failures int) {
	t.Helper()
	for deadline := time.Now().Add(WaitTimeout); held.Status == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d failures were answered, want 429", failures)
		}
		answers := make(chan Answer, 60)
		var all sync.WaitGroup
		for range cap(answers) {
			all.Go(func() { answers <- guess() })
		}
		all.Wait()
		close(answers)
		for a := range answers {
			switch a.Status {
			case http.StatusTooManyRequests:
				held = a
			case http.StatusUnauthorized:
				failures++
			default:
				t.Fatalf("a guess got %d %s, want 401 or 429", a.Status, a.Body)
			}
		}
	}
	return held, failures
}

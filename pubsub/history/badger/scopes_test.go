package badger

import (
	"errors"
	"maps"
	"testing"

	"github.com/millrace/millrace/pubsub/history"
)

// Scopes outlive the process.
func TestScopes(t *testing.T) {
	c := Config{Dir: t.TempDir(), Reserve: 1}
	s := open(t, c)
	if got, err := s.Scopes(); err != nil || len(got) != 0 {
		t.Errorf("of a new store: %v, %v", got, err)
	}
	want := map[string]history.Scope{"a": {Print: "p", Since: 1}, "b": {Since: 1 << 40}}
	must(t, s.SetScopes(want))
	must(t, s.Close())
	if err := s.SetScopes(want); !errors.Is(err, history.ErrClosed) {
		t.Errorf("of a closed store: %v", err)
	}
	if got, err := open(t, c).Scopes(); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

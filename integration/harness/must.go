package harness

import (
	"testing"

	"github.com/millrace/millrace/internal/testcheck"
)

var must = testcheck.Must

// value returns the result of a call that must succeed: value(os.ReadFile(name))(t).
func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func (e *Edge) Must(err error) {
	e.T.Helper()
	must(e.T, err)
}

func (s *Socket) Must(err error) {
	s.T.Helper()
	must(s.T, err)
}

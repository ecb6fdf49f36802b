package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/historytest"
	"github.com/millrace/millrace/pubsub/history/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	historytest.Run(t, func(*testing.T) history.Store { return memory.New() })
}

// A position of an earlier process is of another epoch.
func TestEpoch(t *testing.T) {
	a, b := memory.New(), memory.New()
	for _, s := range []*memory.Store{a, b} {
		if err := s.Define(history.Definition{Name: "h", Limits: history.DefaultLimits()}); err != nil {
			t.Fatal(err)
		}
	}
	at, err := a.Head("h", "t")
	if err != nil {
		t.Fatal(err)
	}
	if known, err := b.Knows("h", "t", at); known || err != nil {
		t.Errorf("%v is known to another store: %v, %v", at, known, err)
	}
}

func BenchmarkWaits(b *testing.B) {
	historytest.BenchmarkWaits(b, func(*testing.B) history.Store { return memory.New() })
}

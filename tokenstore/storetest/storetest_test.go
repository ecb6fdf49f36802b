package storetest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) tokenstore.Store {
		s := storetest.NewMemory()
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// Package operations tests what operators see, attach and change: metrics, hooks, the client
// commands, certificates, and sites below HTTP/3 sessions.
package operations

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Package operations tests what operators see and attach: metrics, hooks, the client commands.
package operations

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

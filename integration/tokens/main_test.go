// Package tokens tests who gets a session and who administers tokens: REST, commands, disks.
package tokens

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

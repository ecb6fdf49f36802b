// Package sessions tests what HTTP/3, TLS and Caddy's reloads mean for sessions.
package sessions

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

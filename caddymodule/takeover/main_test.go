package takeover

import (
	"testing"

	"go.uber.org/goleak"
)

// A lock of Caddy's storage looks after its file for some seconds more.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh"))
}

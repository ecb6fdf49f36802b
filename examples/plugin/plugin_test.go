package plugin

import (
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// A build that imports this package has both modules.
func TestRegistration(t *testing.T) {
	for _, id := range []string{"pubsub.hooks.office_hours", "pubsub.brokers.unix"} {
		if _, err := caddy.GetModule(id); err != nil {
			t.Error(err)
		}
	}
}

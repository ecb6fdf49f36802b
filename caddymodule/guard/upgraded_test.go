package guard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func TestTellUpgraded(t *testing.T) {
	below := httptest.NewRecorder()
	below.Code = 0
	ours := &upgradeWriter{ResponseWriter: below}
	log := caddyhttp.NewResponseRecorder(ours, nil, nil)
	MarkUpgraded(caddyhttp.NewResponseRecorder(log, nil, nil), http.StatusSwitchingProtocols)
	if log.Status() != http.StatusSwitchingProtocols || below.Code != 0 {
		t.Errorf("the log has the status %d, %d was written", log.Status(), below.Code)
	}

	refused := httptest.NewRecorder()
	(&upgradeWriter{ResponseWriter: refused}).WriteHeader(http.StatusForbidden)
	if refused.Code != http.StatusForbidden {
		t.Errorf("a refusal was written with %d", refused.Code)
	}

	without := httptest.NewRecorder()
	without.Code = 0
	MarkUpgraded(caddyhttp.NewResponseRecorder(without, nil, nil), http.StatusSwitchingProtocols)
	if without.Code != 0 {
		t.Errorf("without a guard %d was written", without.Code)
	}
}

package client

import (
	"errors"
	"net/http"
	"testing"
)

func TestErrorText(t *testing.T) {
	err := &Error{
		Code: "permission_denied", Text: "no", Tenant: "t", Channel: "c", Pattern: "p", Status: 403, Close: 4403,
		Err: http.ErrServerClosed,
	}
	want := `millrace: permission_denied (tenant "t") (channel "c") (pattern "p") (HTTP status 403) (close 4403): no: http: Server closed`
	if err.Error() != want {
		t.Errorf("got %s\nwant %s", err, want)
	}
	if !errors.Is(err, ErrPermissionDenied) || errors.Is(err, ErrClosed) || !errors.Is(err, http.ErrServerClosed) {
		t.Error("wrong sentinels")
	}
}

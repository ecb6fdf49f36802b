package client

import (
	"errors"
	"net/http"
	"strings"
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

// The errors of names that are not legal have them, and say the code once.
func TestNameErrors(t *testing.T) {
	w := newWorld(t)
	c, _ := w.connected(edgeA)
	_, badTenant := c.Subscribe(t.Context(), "a b", "x")
	_, badPattern := c.Subscribe(t.Context(), "t", "a.*b")
	badChannel := c.Publish(t.Context(), "t", "x..y", nil)
	long := c.Publish(t.Context(), strings.Repeat("a", 1000), "x", nil)
	for _, test := range []struct {
		err  error
		want string
	}{
		{badTenant, `millrace: bad_tenant (tenant "a b"): `},
		{badPattern, `millrace: bad_pattern (tenant "t") (pattern "a.*b"): `},
		{badChannel, `millrace: bad_channel (tenant "t") (channel "x..y"): `},
		{long, `millrace: bad_tenant (tenant "` + strings.Repeat("a", 256) + `"): `},
	} {
		text := test.err.Error()
		code, _, _ := strings.Cut(strings.TrimPrefix(text, "millrace: "), " ")
		if !strings.HasPrefix(text, test.want) || strings.Count(text, code) != 1 {
			t.Errorf("got %s, want %s…", text, test.want)
		}
	}
}

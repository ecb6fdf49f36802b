package tokenstore_test

import (
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func TestExpiresAt(t *testing.T) {
	const (
		malformed = tokenstore.CodeInvalidBody
		outside   = tokenstore.CodeExpiresAtOutOfRange
	)
	for _, c := range []struct {
		now  time.Duration // after noon
		sent string
		want string // the answer, or a code
	}{
		{0, "2030-01-01T13:00:00Z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01t13:00:00z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T13:00:00.999Z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T13:00:00.123456789123Z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T15:30:00+02:30", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T03:00:00-10:00", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T13:00:00-00:00", "2030-01-01T13:00:00Z"},
		{0, "2030-01-02T12:00:00Z", "2030-01-02T12:00:00Z"}, // exactly 24 h
		{0, "2030-01-02T12:00:01Z", outside},
		{0, "2030-01-02T12:00:00.001Z", outside},
		{0, "2030-01-02T14:00:01+02:00", outside},
		{0, "9999-12-31T23:59:59-23:59", outside},
		{500 * time.Millisecond, "2030-01-02T12:00:00.5Z", "2030-01-02T12:00:00Z"},
		{0, "2030-01-01T12:00:01Z", "2030-01-01T12:00:01Z"},
		{0, "2030-01-01T12:00:00.9Z", outside}, // now, in whole seconds
		{500 * time.Millisecond, "2030-01-01T12:00:00.9Z", outside},
		{0, "2030-01-01T12:00:00Z", outside},
		{0, "2030-01-01T11:59:59Z", outside},
		{0, "0000-01-01T00:00:00Z", outside},
		{0, "2030-01-01T12:30:60Z", malformed},
		{0, "2030-01-01T13:00:00", malformed},
		{0, "2030-01-01T13:00:00 Z", malformed},
		{0, "2030-01-01 13:00:00Z", malformed},
		{0, "2030-01-01T13:00Z", malformed},
		{0, "2030-01-01T13:00:00,5Z", malformed},
		{0, "2030-01-01T13:00:00.Z", malformed},
		{0, "2030-01-01T3:00:00Z", malformed},
		{0, "2030-01-01T24:00:00Z", malformed},
		{0, "2030-02-30T13:00:00Z", malformed},
		{0, "2030-01-01T13:00:00+24:00", malformed},
		{0, "2030-01-01T13:00:00+0100", malformed},
		{0, "2030-01-01", malformed},
		{0, "1893502800", malformed},
		{0, "2030-01-01T13:00:00Z\n", malformed},
		{0, "", malformed},
	} {
		t.Run(c.sent, func(t *testing.T) {
			b := newTestbed(t, tokenstore.Config{})
			id := b.issue(t, b.Overlay(), grantAll("t")).TokenID
			b.advance(c.now)
			right := grantAll("t")
			right.ExpiresAt = c.sent
			issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: right})
			end, refreshErr := b.Refresh(t.Context(), b.Overlay(), id, c.sent)
			if c.want == malformed || c.want == outside {
				wantInvalid(t, err, "right.expires_at", c.want, c.sent)
				wantInvalid(t, refreshErr, "expires_at", c.want, c.sent)
				return
			}
			if err != nil || refreshErr != nil {
				t.Fatal(err, refreshErr)
			}
			for _, got := range []time.Time{issued.ExpiresAt, end} {
				if s := got.Format(time.RFC3339Nano); s != c.want {
					t.Errorf("answered %s, want %s", s, c.want)
				}
			}
		})
	}
}

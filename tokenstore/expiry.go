package tokenstore

import (
	"strings"
	"time"
)

// parseExpiry reads an expires_at and checks it against now. The result is in UTC and
// whole seconds; a fraction is cut off, so that the token never lives longer than
// requested.
func parseExpiry(path, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, invalid(path, "is required: an RFC 3339 time with offset")
	}
	t, ok := parseRFC3339(strings.ToUpper(s)) // RFC 3339 allows t and z in lower case
	if !ok {
		return time.Time{}, invalid(path, "must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z")
	}
	end := t.UTC().Truncate(time.Second)
	if !end.After(now) || t.After(now.Add(MaxLifetime)) {
		return time.Time{}, &InvalidError{
			Path: path, Reason: "must be in the future and at most 24 hours ahead; it is " +
				now.UTC().Format(time.RFC3339) + " at this edge",
			Code: CodeExpiresAtOutOfRange,
		}
	}
	return end, nil
}

// parseRFC3339 is time.Parse without its three liberties (go.dev/issue/54580):
// an hour of one digit, a comma before the fraction, an offset out of range.
func parseRFC3339(s string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || s[len("2006-01-02T1")] == ':' || s[len("2006-01-02T15:04:05")] == ',' {
		return t, false
	}
	if offset := s[len(s)-len("07:00"):]; !strings.HasSuffix(s, "Z") && (offset[:2] > "23" || offset[3:] > "59") {
		return t, false
	}
	return t, true
}

package tokenstore

import (
	"strings"
	"time"
)

// An Expiry says when a token ends: one of the two.
type Expiry struct {
	At string // RFC 3339 with any offset and fraction, at most 24 hours ahead; empty: not given
	In *int64 // a lifetime in seconds, from 1; more than 24 hours means 24 hours; nil: not given
}

// A Lifetime is how long a token is good.
type Lifetime struct {
	ExpiresAt time.Time // by the clock of the edge: UTC, whole seconds
	ExpiresIn int64     // the seconds until then when it was given, at least 1
}

// lifetime checks an expiry. path is where the request has expires_at and expires_in.
func (e Expiry) lifetime(path string, now time.Time) (Lifetime, error) {
	at, in := path+"expires_at", path+"expires_in"
	switch {
	case e.In == nil:
		end, err := parseExpiry(at, e.At, now)
		return Lifetime{end, max(1, int64(end.Sub(now)/time.Second))}, err
	case e.At != "":
		return Lifetime{}, invalid(in, "cannot be combined with expires_at: give one of them")
	case *e.In < 1:
		return Lifetime{}, invalid(in, "must be a whole number of seconds from 1")
	}
	seconds := min(*e.In, int64(MaxLifetime/time.Second))
	// Rounded up: a client that counts from when the token comes must not find it expired.
	end := now.Add(time.Duration(seconds)*time.Second + time.Second - 1).UTC().Truncate(time.Second)
	return Lifetime{end, seconds}, nil
}

// parseExpiry reads an expires_at and checks it against now. The result is in UTC and
// whole seconds; a fraction is cut off, so that the token never lives longer than
// requested.
func parseExpiry(path, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, invalid(path, "is required, or expires_in: an RFC 3339 time with offset, or a number of seconds")
	}
	t, ok := parseRFC3339(strings.ToUpper(s)) // RFC 3339 allows t and z in lower case
	if !ok {
		return time.Time{}, invalid(path, "must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z")
	}
	end := t.UTC().Truncate(time.Second)
	if !end.After(now) || t.After(now.Add(MaxLifetime)) {
		return time.Time{}, &InvalidError{
			Path: path, Reason: "must be in the future and at most 24 hours ahead; it is " +
				now.UTC().Format(time.RFC3339) + " at this edge (expires_in, in seconds, needs no clock)",
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

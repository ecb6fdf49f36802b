package tokenstore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millrace/millrace/wire"
)

// check returns an [*InvalidError] for options out of range.
func (o *ListOptions) check() error {
	switch {
	case o.Limit < 1 || o.Limit > MaxListLimit:
		return invalid("limit", fmt.Sprintf("must be an integer from 1 to %d", MaxListLimit))
	case o.Cursor != "" && !IsID(o.Cursor):
		return invalid("cursor", "must be the next_cursor of the page before")
	case o.Tenant != "" && wire.CheckTenant(o.Tenant) != nil:
		return invalid("tenant", tenantRule)
	case len(o.ID) > hexLen || !isHex(o.ID):
		return invalid("id", fmt.Sprintf("must be the first 1 to %d of an id's lower-case hex digits", hexLen))
	case len(o.CreatedBy) > MaxCreatedBy || !utf8.ValidString(o.CreatedBy):
		return invalid("created_by", fmt.Sprintf("must be 1 to %d bytes of UTF-8", MaxCreatedBy))
	case o.Subject != "" && checkSubject(o.Subject) != nil:
		return checkSubject(o.Subject)
	case o.Status != "" && !slices.Contains(statuses, o.Status):
		return invalid("status", "must be one of "+strings.Join(statuses, ", "))
	}
	return nil
}

var statuses = []string{StatusValid, StatusExpired, StatusRevoked}

// after returns the id above which the page begins: that of the cursor, or one below all
// with the prefix.
func (o *ListOptions) after() string {
	return max(o.Cursor, o.ID[:min(len(o.ID), hexLen-1)]) // a whole id is not above itself
}

// matches reports whether a token is among those that are searched for, its id aside.
func (o *ListOptions) matches(r *accessRecord, now time.Time) bool {
	return (o.Tenant == "" || grantsTenant(&r.Right, o.Tenant)) &&
		(o.CreatedBy == "" || r.CreatedBy == o.CreatedBy) &&
		(o.Subject == "" || r.Subject == o.Subject) &&
		(o.Status == "" || r.status(now) == o.Status)
}

// mayMatch is matches for a stored record, before it is decoded, which takes ten times as
// long: false only for one that does not match.
func (o *ListOptions) mayMatch(value []byte, now time.Time) bool {
	// JSON holds a tenant's name unescaped.
	if o.Tenant != "" && !holdsString(value, o.Tenant) {
		return false
	}
	if o.CreatedBy == "" && o.Subject == "" && o.Status == "" || bytes.IndexByte(value, '\\') >= 0 {
		return true // a record with an escape has to be decoded: any text may be written in several ways
	}
	// Without escapes, each quote begins or ends a string, and each string stands for itself.
	if o.CreatedBy != "" && !holdsString(value, o.CreatedBy) {
		return false
	}
	if o.Subject != "" && !holdsString(value, o.Subject) {
		return false
	}
	switch o.Status {
	case StatusRevoked:
		return holdsString(value, "revoked_at")
	case StatusValid, StatusExpired:
		expiresAt, known := storedTime(value, "expires_at")
		return !known || now.Before(expiresAt) == (o.Status == StatusValid)
	}
	return true
}

// holdsString reports whether JSON has a string, which is written without escapes.
func holdsString(value []byte, s string) bool {
	for {
		at := bytes.Index(value, []byte(s))
		switch end := at + len(s); {
		case at < 0:
			return false
		case at > 0 && value[at-1] == '"' && end < len(value) && value[end] == '"':
			return true
		}
		value = value[at+1:]
	}
}

// storedTime returns the time that JSON without escapes has under a key. It is not known
// where the key stands in several places, or is not written as the stores' records are.
func storedTime(value []byte, key string) (t time.Time, known bool) {
	key = `"` + key + `":`
	_, rest, found := bytes.Cut(value, []byte(key))
	if !found || len(rest) == 0 || rest[0] != '"' || bytes.Contains(rest, []byte(key)) {
		return t, false
	}
	text, _, _ := bytes.Cut(rest[1:], []byte(`"`))
	t, err := time.Parse(time.RFC3339, string(text))
	return t, err == nil
}

func grantsTenant(right *Right, tenant string) bool {
	return slices.ContainsFunc(right.TenantGrants, func(g TenantGrant) bool {
		return slices.Contains(g.TenantIDs, tenant)
	})
}

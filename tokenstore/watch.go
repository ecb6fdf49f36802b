package tokenstore

import "time"

// Watch calls fn for every change of an access token, new ones included; for
// one token in the order of versions. fn must not block and must not call the
// Service. See [Store] about stop. A token that merely expires causes no event: the
// owner of a connection knows its ExpiresAt.
func (s *Service) Watch(fn func(Event)) (stop func()) {
	return s.store.Watch(func(c Change) {
		if c.Record.Kind != KindAccess {
			return
		}
		fn(eventOf(c))
	})
}

// MayEnd reports whether a change of a record may have ended what it permitted: those who
// use it have to hear of that. A refresh, for example, does not.
func MayEnd(c Change) bool {
	return c.Record.Kind == KindMaster || c.Record.Kind == KindAccess && eventOf(c).Revoked
}

func eventOf(c Change) Event {
	e := Event{TokenID: c.Record.ID, Version: c.Record.Version}
	var r struct {
		formatted
		ExpiresAt time.Time  `json:"expires_at"`
		RevokedAt *time.Time `json:"revoked_at"`
	}
	if c.Deleted || decode(c.Record, &r) != nil {
		e.Revoked = true // a record that cannot be read permits nothing
		return e
	}
	e.ExpiresAt, e.Revoked = r.ExpiresAt, r.RevokedAt != nil
	return e
}

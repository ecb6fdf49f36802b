package tokenstore

import (
	"errors"
	"fmt"

	"github.com/millrace/millrace/internal/version"
)

// recordFormat is the newest format of records that this version reads, and the one that it
// writes. A record names its format in the member format; one without it has format 1.
//
// A version that does not know a member of a record drops it when it changes the record. So
// a member that must not be lost makes another format, which a release reads before the
// next one writes it: see docs/upgrading.md.
const recordFormat = 1

// ErrFormat is in the error about what is stored in a format that this version of Millrace
// does not read, as a newer one has written it. It is an [ErrUnavailable], so that clients
// try another edge: that one may read it.
var ErrFormat = errors.New("a format that this version does not read")

// UnknownFormat returns the error, an [ErrFormat], about something that has a format; it
// says which ones are read, those from 1 to reads.
func UnknownFormat(what string, format, reads int) error {
	return &formatError{version.UnknownFormat(what, format, reads)}
}

type formatError struct{ text string }

func (e *formatError) Error() string   { return "tokenstore: " + e.text }
func (e *formatError) Unwrap() []error { return []error{ErrFormat, ErrUnavailable} }

// formatted is the part of every record that says how to read the rest.
type formatted struct {
	Format int `json:"format,omitempty"` // 0: 1, which is not written
}

// checkFormat returns an error for a record of a format that is not read.
func (f formatted) checkFormat(rec Record) error {
	if f.Format < 0 || f.Format > recordFormat {
		return UnknownFormat(fmt.Sprintf("the record of %s token %s", rec.Kind, rec.ID), f.Format, recordFormat)
	}
	return nil
}

// checkReadable returns an error if the store has records that this version cannot read,
// for calls that must not leave any out.
func checkReadable(s Store) error {
	if u, ok := s.(UnreadableReporter); ok {
		return u.Unreadable()
	}
	return nil
}

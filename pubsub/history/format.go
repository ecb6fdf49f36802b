package history

import (
	"errors"

	"github.com/millrace/millrace/internal/version"
)

// ErrFormat is in the error about what is stored in a format that this version of Millrace
// does not read, as a newer one has written it. Nothing of it is taken or changed.
var ErrFormat = errors.New("a format that this version does not read")

// UnknownFormat returns the error, an [ErrFormat], about something that has a format; it
// says which ones are read, those from 1 to reads.
func UnknownFormat(what string, format, reads int) error {
	return &formatError{version.UnknownFormat(what, format, reads)}
}

type formatError struct{ text string }

func (e *formatError) Error() string { return e.text }
func (e *formatError) Unwrap() error { return ErrFormat }

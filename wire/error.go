package wire

// Error says why bytes are not legal. Its text never quotes them: lines can
// carry tokens. All values are made once, so a refusal allocates nothing.
type Error struct {
	Code   Code   // what the peer is told
	Reason string // what is wrong, or what would be legal; empty in the sentinels
}

// The sentinels for [errors.Is]: an [Error] is the one of its code.
var (
	ErrBadRequest error = &Error{Code: CodeBadRequest} // a text line is not understood
	ErrBadFrame   error = &Error{Code: CodeBadFrame}   // a binary frame is not understood
	ErrBadTenant  error = &Error{Code: CodeBadTenant}  // a tenant name is not legal
	ErrBadChannel error = &Error{Code: CodeBadChannel} // a channel name is not legal
)

func (e *Error) Error() string {
	if e.Reason == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Reason
}

// Is reports whether target is the sentinel of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == "" && t.Code == e.Code
}

package nats

import (
	"fmt"
	"strconv"
)

// edgeID identifies an edge from its start to its end.
type edgeID uint64

// String returns 16 hexadecimal digits.
func (id edgeID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// MarshalText implements [encoding.TextMarshaler]: numbers of JSON do not go that far.
func (id edgeID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *edgeID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err == nil && len(text) != 16 {
		err = strconv.ErrSyntax
	}
	*id = edgeID(n)
	return err
}

package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// ConnectionID names a connection, or an attempt to connect, for support: an operator finds it by
// this id (docs/protocol.md, Connection ids). It is random, and no secret. Zero: none.
type ConnectionID uint64

// HeaderConnectionID is the header field of a handshake's answer that has the [ConnectionID].
const HeaderConnectionID = "Connection-Id"

// connectionIDLen is the length of a ConnectionID as text.
const connectionIDLen = 16

// connectionField precedes the id in an ERR line. No name has its last byte.
const connectionField = ":connection="

// String returns 16 lower-case hex digits; for zero it is empty.
func (id ConnectionID) String() string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("%0*x", connectionIDLen, uint64(id))
}

// ParseConnectionID reads what String returns; false: it is nothing like that.
func ParseConnectionID(s string) (ConnectionID, bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	id := ConnectionID(n)
	return id, err == nil && s != "" && id.String() == s
}

// MarshalText implements [encoding.TextMarshaler].
func (id ConnectionID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *ConnectionID) UnmarshalText(text []byte) error {
	var ok bool
	if *id, ok = ParseConnectionID(string(text)); !ok && len(text) > 0 {
		return fmt.Errorf("a connection id has %d lower-case hex digits", connectionIDLen)
	}
	return nil
}

// AppendConnection appends :connection=<id> to an ERR line, if there is room for it in a line.
func AppendConnection(line []byte, id ConnectionID) []byte {
	if id == 0 || len(line)+len(connectionField)+connectionIDLen > MaxLine {
		return line
	}
	return append(append(line, connectionField...), id.String()...)
}

// cutConnection takes :connection=<id> off what follows ERR: in a line.
func cutConnection(fields string) (rest string, id ConnectionID) {
	if i := strings.LastIndex(fields, connectionField); i >= 0 {
		if id, ok := ParseConnectionID(fields[i+len(connectionField):]); ok {
			return fields[:i], id
		}
	}
	return fields, 0
}

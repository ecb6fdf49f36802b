package wire

import (
	"encoding/hex"
	"math"
	"strconv"
)

// Position is a place in the history of a tenant: behind one message and before the
// next. Clients do not look into it. In lines it is written <epoch>.<n>.<t>.
type Position struct {
	Epoch uint64 // changes whenever the store has lost its memory; written as 16 lower-case hex digits
	N     uint64 // grows within a history and a tenant, not necessarily by one
	T     uint64 // when the message was stored, in ms since 1970
}

const (
	epochDigits = 16
	// MaxPositionLen is how many bytes the longest position has.
	MaxPositionLen = epochDigits + 1 + 20 + 1 + 20
	// MaxLast is the largest n of last.<n>: no history keeps more messages of a channel.
	MaxLast = 100_000
)

var errPosition = &Error{CodeBadRequest, "a position is <epoch>.<n>.<t>: 16 digits of 0-9 and a-f, and two decimal numbers without leading zeros"}

// ParsePosition reads a position, which has one spelling. The error is an [Error] that
// is [ErrBadRequest]. It allocates nothing.
func ParsePosition[T string | []byte](s T) (Position, error) {
	p, ok := parsePosition(s)
	if !ok {
		return Position{}, errPosition
	}
	return p, nil
}

func parsePosition[T string | []byte](s T) (p Position, ok bool) {
	if len(s) <= epochDigits || len(s) > MaxPositionLen || s[epochDigits] != '.' {
		return Position{}, false
	}
	for _, c := range []byte(s[:epochDigits]) {
		switch {
		case '0' <= c && c <= '9':
			p.Epoch = p.Epoch<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			p.Epoch = p.Epoch<<4 | uint64(c-'a'+10)
		default:
			return Position{}, false
		}
	}
	dot := epochDigits + 1
	for dot < len(s) && s[dot] != '.' {
		dot++
	}
	if dot == len(s) {
		return Position{}, false
	}
	var okN, okT bool
	p.N, okN = parseDecimal(s[epochDigits+1 : dot])
	p.T, okT = parseDecimal(s[dot+1:])
	if !okN || !okT {
		return Position{}, false
	}
	return p, true
}

// parseDecimal reads a u64 in its one spelling.
func parseDecimal[T string | []byte](s T) (n uint64, ok bool) {
	if len(s) == 0 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		digit := uint64(s[i] - '0') // another byte is above 9
		if digit > 9 || n > math.MaxUint64/10 || n*10 > math.MaxUint64-digit {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, true
}

// AppendPosition appends a position.
func AppendPosition(dst []byte, p Position) []byte {
	var epoch [8]byte
	for i := range epoch {
		epoch[i] = byte(p.Epoch >> (56 - 8*i))
	}
	dst = append(hex.AppendEncode(dst, epoch[:]), '.')
	dst = append(strconv.AppendUint(dst, p.N, 10), '.')
	return strconv.AppendUint(dst, p.T, 10)
}

// String returns the position as lines have it.
func (p Position) String() string {
	return string(AppendPosition(make([]byte, 0, MaxPositionLen), p))
}

// Origin says what an RSUB begins with. The zero value is [OriginNow].
type Origin uint8

// The origins.
const (
	OriginNow      Origin = iota // now: what comes from now on
	OriginLast                   // last: the newest message of each matching channel, then what comes
	OriginLastN                  // last.<n>: the newest n messages of the one channel, then what comes
	OriginPosition               // a position: everything behind it
)

// From is the last field of an RSUB line.
type From struct {
	Origin   Origin
	N        uint32   // of OriginLastN: 1 to MaxLast
	Position Position // of OriginPosition
}

const (
	fromNow  = "now"
	fromLast = "last"
)

func parseFrom(b []byte) (From, bool) {
	const lastN = fromLast + "."
	switch {
	case string(b) == fromNow:
		return From{}, true
	case string(b) == fromLast:
		return From{Origin: OriginLast}, true
	case len(b) > len(lastN) && string(b[:len(lastN)]) == lastN:
		n, ok := parseDecimal(b[len(lastN):])
		if !ok || n == 0 || n > MaxLast {
			return From{}, false
		}
		return From{Origin: OriginLastN, N: uint32(n)}, true
	}
	p, ok := parsePosition(b)
	if !ok {
		return From{}, false
	}
	return From{Origin: OriginPosition, Position: p}, true
}

// AppendFrom appends the last field of an RSUB line.
func AppendFrom(dst []byte, f From) []byte {
	switch f.Origin {
	case OriginLast:
		return append(dst, fromLast...)
	case OriginLastN:
		return strconv.AppendUint(append(append(dst, fromLast...), '.'), uint64(f.N), 10)
	case OriginPosition:
		return AppendPosition(dst, f.Position)
	default:
		return append(dst, fromNow...)
	}
}

package wire

import (
	"bytes"
	"strconv"
)

// Subprotocol names the protocol in the handshakes of WebSocket and WebTransport.
const Subprotocol = "llps.v1"

// SubprotocolRefusal is the entry beside [Subprotocol] with which a client of WebSocket has a refusal told
// inside the connection, since it cannot see the answer to a handshake (docs/protocol.md, WebSocket).
const SubprotocolRefusal = "refusal.v1"

// MaxLine is the length limit of a line in bytes, without a newline at its end.
const MaxLine = 1024

// MaxCredit is the most credit that a CREDIT line adds, and that a subscription has.
const MaxCredit = 1<<31 - 1

// Verb is what a client line asks for. The zero value is no verb.
type Verb uint8

// The layouts of client lines; a newline (\n or \r\n) may end each.
const (
	VerbSub      Verb = iota + 1 // SUB:<tenant>:<pattern>
	VerbUnsub                    // UNSUB:<tenant>:<pattern>
	VerbPing                     // PING
	VerbPong                     // PONG
	VerbAuth                     // AUTH:<token>
	VerbFeatures                 // FEATURES or FEATURES:<name>,<name>…
	VerbRsub                     // RSUB:<tenant>:<pattern>:<from>, of the feature history
	VerbJoin                     // JOIN:<tenant>:<channel>, of the feature presence, as the next three
	VerbLeave                    // LEAVE:<tenant>:<channel>
	VerbWho                      // WHO:<tenant>:<pattern> or WHO:<tenant>:<pattern>:count
	VerbUnwho                    // UNWHO:<tenant>:<pattern>
	VerbCredit                   // CREDIT:<tenant>:<pattern>:<n>, of the feature work_queue
)

// The lines without fields. Either side sends the first two, the server alone
// the others.
const (
	LinePing      = "PING"
	LinePong      = "PONG"
	LineReconnect = "RECONNECT"
	LineOKAuth    = "OK:AUTH"
)

// String returns the word that starts the line.
func (v Verb) String() string {
	switch v {
	case VerbSub:
		return "SUB"
	case VerbUnsub:
		return "UNSUB"
	case VerbPing:
		return LinePing
	case VerbPong:
		return LinePong
	case VerbAuth:
		return "AUTH"
	case VerbFeatures:
		return wordFeatures
	case VerbRsub:
		return "RSUB"
	case VerbJoin:
		return "JOIN"
	case VerbLeave:
		return "LEAVE"
	case VerbWho:
		return "WHO"
	case VerbUnwho:
		return "UNWHO"
	case VerbCredit:
		return "CREDIT"
	default:
		return "Verb(" + strconv.Itoa(int(v)) + ")"
	}
}

// Line is a client line. The slices alias the parsed input and are read-only.
type Line struct {
	Verb     Verb
	Tenant   []byte // of all that have one; an empty one has become DefaultTenant
	Pattern  []byte // of all that have one; of JOIN and LEAVE the channel
	From     From   // of RSUB
	Token    []byte // of AUTH; a secret, never to be logged
	Own      bool   // of SUB and UNSUB on a unidirectional stream: marked U, for a stream of its own
	Credit   uint64 // of CREDIT: how much more; a later check finds what is not 1 to MaxCredit
	Count    bool   // of WHO: it asks for numbers alone
	Features []byte // of FEATURES: names with commas between, see HasFeature; nil: none
}

var (
	errLineEmpty    = &Error{CodeBadRequest, "the line is empty"}
	errLineLong     = &Error{CodeBadRequest, "a line has at most " + strconv.Itoa(MaxLine) + " bytes"}
	errLineUnknown  = &Error{CodeBadRequest, "a line is SUB:<tenant>:<pattern>, UNSUB:<tenant>:<pattern>, RSUB:<tenant>:<pattern>:<from>, JOIN or LEAVE:<tenant>:<channel>, WHO:<tenant>:<pattern>[:count], UNWHO:<tenant>:<pattern>, CREDIT:<tenant>:<pattern>:<n>, PING, PONG, FEATURES[:<name>,…] or AUTH:<token>"}
	errLineNoToken  = &Error{CodeBadRequest, "AUTH:<token> has no token"}
	errLineTwoParts = &Error{CodeBadRequest, "SUB, UNSUB, JOIN, LEAVE, WHO and UNWHO have two fields, <tenant>:<pattern> or <tenant>:<channel>"}
	errLineCredit   = &Error{CodeBadRequest, "CREDIT has three fields, <tenant>:<pattern>:<n>, and <n> is a decimal number without leading zeros"}
	errLineRsub     = &Error{CodeBadRequest, "RSUB has three fields, <tenant>:<pattern>:<from>, and <from> is now, last, last.<n> or a position"}
)

var defaultTenant = []byte(DefaultTenant)

// ParseLine splits a client line (docs/protocol.md, Lines). It does not look at
// names, so a further colon of SUB or UNSUB ends up in the pattern, where no name
// has one. RSUB, JOIN, LEAVE, WHO, UNWHO and CREDIT are lines here whatever the edge has and
// the client has turned on: an edge answers them with bad_request where they do not belong. The error is an [Error] that is [ErrBadRequest]. It allocates
// nothing.
func ParseLine(b []byte) (Line, error) {
	b = trimNewline(b)
	switch {
	case len(b) == 0:
		return Line{}, errLineEmpty
	case len(b) > MaxLine:
		return Line{}, errLineLong
	}
	word, rest, hasFields := bytes.Cut(b, colon)
	switch string(word) { // compares, does not convert
	case "SUB":
		return splitLine(VerbSub, rest)
	case "UNSUB":
		return splitLine(VerbUnsub, rest)
	case "RSUB":
		return splitRsub(rest)
	case "JOIN":
		return splitLine(VerbJoin, rest)
	case "LEAVE":
		return splitLine(VerbLeave, rest)
	case "WHO":
		return splitWho(rest)
	case "UNWHO":
		return splitLine(VerbUnwho, rest)
	case "CREDIT":
		return splitCredit(rest)
	case LinePing:
		if !hasFields {
			return Line{Verb: VerbPing}, nil
		}
	case LinePong:
		if !hasFields {
			return Line{Verb: VerbPong}, nil
		}
	case "AUTH":
		if len(rest) == 0 {
			return Line{}, errLineNoToken
		}
		return Line{Verb: VerbAuth, Token: rest}, nil
	case wordFeatures:
		if hasFields && !areFeatures(rest) {
			return Line{}, errFeatures
		}
		return Line{Verb: VerbFeatures, Features: rest}, nil
	}
	return Line{}, errLineUnknown
}

var colon = []byte{':'}

func splitLine(v Verb, fields []byte) (Line, error) {
	tenant, pattern, ok := bytes.Cut(fields, colon)
	if !ok {
		return Line{}, errLineTwoParts
	}
	if len(tenant) == 0 {
		tenant = defaultTenant
	}
	return Line{Verb: v, Tenant: tenant, Pattern: pattern}, nil
}

// splitRsub splits the fields of RSUB. There are exactly three: what has a further
// colon is no <from>.
func splitRsub(fields []byte) (Line, error) {
	l, err := splitLine(VerbRsub, fields)
	if err != nil {
		return Line{}, errLineRsub
	}
	pattern, from, _ := bytes.Cut(l.Pattern, colon)
	var ok bool
	if l.From, ok = parseFrom(from); !ok {
		return Line{}, errLineRsub
	}
	l.Pattern = pattern
	return l, nil
}

// splitCredit splits the fields of CREDIT. There are exactly three: what has a further
// colon is no number.
func splitCredit(fields []byte) (Line, error) {
	l, err := splitLine(VerbCredit, fields)
	if err != nil {
		return Line{}, errLineCredit
	}
	pattern, n, _ := bytes.Cut(l.Pattern, colon)
	var ok bool
	if l.Credit, ok = parseDecimal(n); !ok {
		return Line{}, errLineCredit
	}
	l.Pattern = pattern
	return l, nil
}

// trimNewline removes one \n or \r\n from the end; a lone \r stays.
func trimNewline(b []byte) []byte {
	n := len(b)
	if n == 0 || b[n-1] != '\n' {
		return b
	}
	if n > 1 && b[n-2] == '\r' {
		return b[:n-2]
	}
	return b[:n-1]
}

// AppendLine appends a client line without newline. Tenant and pattern are
// those of SUB and UNSUB; PING and PONG have none. AUTH has [AppendAuth], RSUB
// has [AppendRsub], CREDIT has [AppendCredit].
func AppendLine(dst []byte, v Verb, tenant, pattern string) []byte {
	dst = append(dst, v.String()...)
	if v == VerbPing || v == VerbPong {
		return dst
	}
	return appendParts(dst, tenant, pattern)
}

// AppendAuth appends AUTH:<token>, without newline.
func AppendAuth(dst []byte, token string) []byte {
	return appendParts(append(dst, "AUTH"...), token)
}

// AppendRsub appends RSUB:<tenant>:<pattern>:<from>, without newline.
func AppendRsub(dst []byte, tenant, pattern string, from From) []byte {
	return AppendFrom(append(AppendLine(dst, VerbRsub, tenant, pattern), ':'), from)
}

// AppendCredit appends CREDIT:<tenant>:<pattern>:<n>, without newline; n is 1 to [MaxCredit].
func AppendCredit(dst []byte, tenant, pattern string, n uint64) []byte {
	return strconv.AppendUint(append(AppendLine(dst, VerbCredit, tenant, pattern), ':'), n, 10)
}

// appendParts appends each part behind a colon.
func appendParts(dst []byte, parts ...string) []byte {
	for _, part := range parts {
		dst = append(dst, ':')
		dst = append(dst, part...)
	}
	return dst
}

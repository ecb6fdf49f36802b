package wire

import "strings"

// ServerKind says what a server line is. The zero value means none.
type ServerKind uint8

// The layouts of server lines, which end without newline.
const (
	KindOK        ServerKind = iota + 1 // OK:<verb>:<tenant>:<pattern> of SUB, UNSUB, JOIN, LEAVE, WHO and UNWHO
	KindOKAuth                          // OK:AUTH
	KindErr                             // ERR:<code>[:<detail>]
	KindPing                            // PING
	KindPong                            // PONG
	KindReconnect                       // RECONNECT
	KindFeatures                        // FEATURES:<name>,<name>…
	KindLink                            // LINK:up or LINK:down
	KindOKRsub                          // OK:RSUB:<tenant>:<pattern>:<position>:<how>
	KindAt                              // AT:<tenant>:<pattern>:<position>
	KindGap                             // GAP:<tenant>:<pattern>:<position> or GAP:<tenant>:<pattern>:<position>:<reason>
	KindOKPub                           // OK:PUB:<id> or OK:PUB:<id>:<position>
)

// ServerLine is a server line.
type ServerLine struct {
	Kind    ServerKind
	Verb    Verb   // of KindOK
	Tenant  string // of KindOK, KindOKRsub, KindAt and KindGap
	Pattern string // of the same; of OK:JOIN and OK:LEAVE the channel
	Code    Code   // of KindErr; perhaps one that this version does not know
	// Detail is what follows the code of KindErr, empty if nothing does: the
	// argument of the code, or the command that was refused, such as SUB:… or PUB:….
	Detail       string
	ConnectionID ConnectionID // of KindErr, with the feature connection_id; zero: none
	Features     string       // of KindFeatures: those that the server knows, with commas between
	Up           bool         // of KindLink
	Position     Position     // of KindOKRsub, KindAt and KindGap, and of KindOKPub if it is Stored
	Complete     bool         // of KindOKRsub: nothing is missing; else there is a gap
	Reason       GapReason    // of KindGap, with the feature reasons; empty: the edge does not say
	Denial       Denial       // of KindErr with CodePermissionDenied, with the feature reasons
	ID           uint32       // of KindOKPub; ERR lines have RefusedID
	Stored       bool         // of KindOKPub: the message has a Position
}

var (
	errServerLineEnd     = &Error{CodeBadRequest, "a server line ends without newline"}
	errServerLineUnknown = &Error{CodeBadRequest, "a server line is OK:<verb>:<tenant>:<pattern> of SUB, UNSUB, JOIN, LEAVE, WHO or UNWHO, OK:RSUB:<tenant>:<pattern>:<position>:<how>, AT:<tenant>:<pattern>:<position>, GAP:<tenant>:<pattern>:<position>[:<reason>], OK:PUB:<id>[:<position>], OK:AUTH, ERR:<code>[:<detail>], PING, PONG, RECONNECT, FEATURES:<name>,… or LINK:up or LINK:down"}
	errServerLineOK      = &Error{CodeBadRequest, "OK:<verb> has two more fields, <tenant>:<pattern>, none empty"}
	errServerLineCode    = &Error{CodeBadRequest, "ERR has a code of a-z and _, then nothing or a colon and a detail"}
)

// ParseServerLine splits a server line (docs/protocol.md, Lines). Like
// [ParseLine] it does not look at names. A code that it does not know is no
// error: later servers may have more. The error is an [Error] that is
// [ErrBadRequest].
func ParseServerLine(b []byte) (ServerLine, error) {
	switch {
	case len(b) > MaxLine:
		return ServerLine{}, errLineLong
	case len(b) > 0 && b[len(b)-1] == '\n':
		return ServerLine{}, errServerLineEnd
	}
	line := string(b)
	switch line {
	case LinePing:
		return ServerLine{Kind: KindPing}, nil
	case LinePong:
		return ServerLine{Kind: KindPong}, nil
	case LineReconnect:
		return ServerLine{Kind: KindReconnect}, nil
	case LineOKAuth:
		return ServerLine{Kind: KindOKAuth}, nil
	case LineLinkUp, LineLinkDown:
		return ServerLine{Kind: KindLink, Up: line == LineLinkUp}, nil
	}
	if rest, ok := strings.CutPrefix(line, wordFeatures+":"); ok {
		if !areFeatures(b[len(line)-len(rest):]) {
			return ServerLine{}, errFeatures
		}
		return ServerLine{Kind: KindFeatures, Features: rest}, nil
	}
	if rest, ok := strings.CutPrefix(line, "OK:"); ok {
		for _, v := range acknowledged {
			if fields, ok := strings.CutPrefix(rest, v.String()+":"); ok {
				return splitOK(v, fields)
			}
		}
	}
	if rest, ok := strings.CutPrefix(line, "ERR:"); ok {
		return splitErr(rest)
	}
	return parseHistoryLine(line)
}

// acknowledged are the verbs of KindOK.
var acknowledged = []Verb{VerbSub, VerbUnsub, VerbJoin, VerbLeave, VerbWho, VerbUnwho}

func splitOK(v Verb, fields string) (ServerLine, error) {
	tenant, pattern, _ := strings.Cut(fields, ":")
	if tenant == "" || pattern == "" {
		return ServerLine{}, errServerLineOK
	}
	return ServerLine{Kind: KindOK, Verb: v, Tenant: tenant, Pattern: pattern}, nil
}

func splitErr(fields string) (ServerLine, error) {
	fields, id := cutConnection(fields)
	code, detail, hasDetail := strings.Cut(fields, ":")
	var denial Denial
	if Code(code) == CodePermissionDenied {
		detail, denial = cutDenial(detail)
	}
	if !isWord(code) || hasDetail && detail == "" {
		return ServerLine{}, errServerLineCode
	}
	return ServerLine{Kind: KindErr, Code: Code(code), Detail: detail, ConnectionID: id, Denial: denial}, nil
}

// AppendOK appends OK:<verb>:<tenant>:<pattern>, the answer to a line of KindOK's verbs.
func AppendOK(dst []byte, v Verb, tenant, pattern string) []byte {
	return AppendLine(append(dst, "OK:"...), v, tenant, pattern)
}

// AppendErr appends ERR:<code> and each part behind a colon. Parts from a
// client must have passed their checks: a line has no escapes.
func AppendErr(dst []byte, c Code, parts ...string) []byte {
	return appendParts(append(append(dst, "ERR:"...), c...), parts...)
}

package wire

import (
	"math"
	"strconv"
	"strings"
)

// The words of <how> in OK:RSUB.
const (
	howComplete = "complete"
	howGap      = "gap"
)

const pub = "PUB:"

var (
	errServerLineRsub = &Error{CodeBadRequest, "OK:RSUB has four fields, <tenant>:<pattern>:<position>:<how>, and <how> is complete or gap"}
	errServerLineAt   = &Error{CodeBadRequest, "AT and GAP have three fields, <tenant>:<pattern>:<position>, and GAP perhaps a reason, a word of a-z and _"}
	errServerLinePub  = &Error{CodeBadRequest, "OK:PUB has the id of a publish, a decimal u32, and perhaps a position"}
)

// parseHistoryLine parses the server lines of the feature history.
func parseHistoryLine(line string) (ServerLine, error) {
	if rest, ok := strings.CutPrefix(line, "OK:RSUB:"); ok {
		return splitOKRsub(rest)
	}
	if rest, ok := strings.CutPrefix(line, "AT:"); ok {
		return splitAt(KindAt, rest)
	}
	if rest, ok := strings.CutPrefix(line, "GAP:"); ok {
		return splitGap(rest)
	}
	if rest, ok := strings.CutPrefix(line, "OK:PUB:"); ok {
		return splitOKPub(rest)
	}
	return ServerLine{}, errServerLineUnknown
}

func splitOKRsub(fields string) (ServerLine, error) {
	i := strings.LastIndexByte(fields, ':')
	if i < 0 {
		return ServerLine{}, errServerLineRsub
	}
	how := fields[i+1:]
	l, err := splitAt(KindOKRsub, fields[:i])
	if err != nil || how != howComplete && how != howGap {
		return ServerLine{}, errServerLineRsub
	}
	l.Complete = how == howComplete
	return l, nil
}

// splitAt splits <tenant>:<pattern>:<position>. A position has no colon, so a further
// one makes the line broken.
func splitAt(kind ServerKind, fields string) (ServerLine, error) {
	tenant, rest, _ := strings.Cut(fields, ":")
	pattern, position, _ := strings.Cut(rest, ":")
	p, ok := parsePosition(position)
	if tenant == "" || pattern == "" || !ok {
		return ServerLine{}, errServerLineAt
	}
	return ServerLine{Kind: kind, Tenant: tenant, Pattern: pattern, Position: p}, nil
}

// splitGap splits <tenant>:<pattern>:<position> and perhaps :<reason>.
func splitGap(fields string) (ServerLine, error) {
	i := strings.LastIndexByte(fields, ':')
	if i < 0 || !isWord(fields[i+1:]) { // a position has digits and points
		return splitAt(KindGap, fields)
	}
	l, err := splitAt(KindGap, fields[:i])
	if err == nil {
		l.Reason = GapReason(fields[i+1:])
	}
	return l, err
}

// isWord reports whether s is made of a-z and _, as codes are.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func splitOKPub(fields string) (ServerLine, error) {
	text, position, stored := strings.Cut(fields, ":")
	id, ok := parseID(text)
	if !ok {
		return ServerLine{}, errServerLinePub
	}
	l := ServerLine{Kind: KindOKPub, ID: id, Stored: stored}
	if !stored {
		return l, nil
	}
	if l.Position, ok = parsePosition(position); !ok {
		return ServerLine{}, errServerLinePub
	}
	return l, nil
}

func parseID(s string) (uint32, bool) {
	n, ok := parseDecimal(s)
	return uint32(n), ok && n <= math.MaxUint32
}

// RefusedID returns the id of the publish that an ERR:<code>:PUB:<id> refuses, and
// whether the line is one. A refused publish without an id has ERR:<code>:PUB:<tenant>:<channel>.
func (l ServerLine) RefusedID() (id uint32, ok bool) {
	text, found := strings.CutPrefix(l.Detail, pub)
	if l.Kind != KindErr || !found {
		return 0, false
	}
	return parseID(text)
}

// AppendOKRsub appends OK:RSUB:<tenant>:<pattern>:<position>:<how>.
func AppendOKRsub(dst []byte, tenant, pattern string, at Position, complete bool) []byte {
	how := howGap
	if complete {
		how = howComplete
	}
	return appendParts(appendAt(AppendOK(dst, VerbRsub, tenant, pattern), at), how)
}

// AppendAt appends AT:<tenant>:<pattern>:<position>.
func AppendAt(dst []byte, tenant, pattern string, at Position) []byte {
	return appendAt(appendParts(append(dst, "AT"...), tenant, pattern), at)
}

// AppendGap appends GAP:<tenant>:<pattern>:<position>.
func AppendGap(dst []byte, tenant, pattern string, at Position) []byte {
	return appendAt(appendParts(append(dst, "GAP"...), tenant, pattern), at)
}

// AppendGapReason appends GAP:<tenant>:<pattern>:<position>:<reason>, of the feature reasons.
func AppendGapReason(dst []byte, tenant, pattern string, at Position, why GapReason) []byte {
	return appendParts(AppendGap(dst, tenant, pattern, at), string(why))
}

func appendAt(dst []byte, at Position) []byte {
	return AppendPosition(append(dst, ':'), at)
}

// AppendOKPub appends OK:PUB:<id>: the edge has accepted the publish.
func AppendOKPub(dst []byte, id uint32) []byte {
	return strconv.AppendUint(append(dst, "OK:"+pub...), uint64(id), 10)
}

// AppendOKPubAt appends OK:PUB:<id>:<position>: the publish is stored.
func AppendOKPubAt(dst []byte, id uint32, at Position) []byte {
	return appendAt(AppendOKPub(dst, id), at)
}

// AppendErrPub appends ERR:<code>:PUB:<id>, which refuses a publish with an id.
func AppendErrPub(dst []byte, c Code, id uint32) []byte {
	return strconv.AppendUint(append(AppendErr(dst, c), ":"+pub...), uint64(id), 10)
}

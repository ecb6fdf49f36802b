package wire

import "strings"

// GapReason says why messages may be missing, with the feature reasons: the last field of GAP. A
// client must accept words that it does not know, as [GapUnknown].
type GapReason string

// The reasons of GAP lines.
const (
	GapExpired GapReason = "expired" // limits of the history have removed some
	GapPurged  GapReason = "purged"  // somebody has removed some
	GapLate    GapReason = "late"    // they were later than the history allows
	GapLost    GapReason = "lost"    // the store has lost some, or what it knew of them
	GapBehind  GapReason = "behind"  // that nothing is missing could not be proved
	GapUnknown GapReason = "unknown"
)

// DenialKind says what stands behind ERR:permission_denied and its context, with the feature reasons.
// The zero value is nothing.
type DenialKind uint8

// The kinds.
const (
	DeniedRules   DenialKind = iota + 1 // :allowed=<rules>: what the token allows in this tenant, perhaps nothing
	DeniedTenants                       // :tenants=<tenants>: those of the token, without this one
	DeniedBy                            // :by=hook
)

// DenialCut is the last name of a [Denial] that has more than a line has room for.
const DenialCut = "..."

// Denial says why a command was refused with [CodePermissionDenied].
type Denial struct {
	Kind  DenialKind
	Names string // rules or tenants with commas between, perhaps none; of DeniedBy who refused it
}

var denialFields = [...]string{DeniedRules: ":allowed=", DeniedTenants: ":tenants=", DeniedBy: ":by="}

// AppendDenial appends what a Denial of this kind has to an ERR:permission_denied line. It leaves
// room for [AppendConnection]: of the names it leaves out the last ones and ends with [DenialCut].
func AppendDenial(line []byte, kind DenialKind, names []string) []byte {
	limit := MaxLine - len(connectionField) - connectionIDLen
	line = append(line, denialFields[kind]...)
	for i, name := range names {
		comma := min(i, 1)
		if need := comma + len(name); len(line)+need > limit || i < len(names)-1 && len(line)+need+len(DenialCut)+1 > limit {
			line = append(line, ","[:comma]...)
			return append(line, DenialCut...)
		}
		line = append(append(line, ","[:comma]...), name...)
	}
	return line
}

// cutDenial takes a Denial off the end of a line's fields. No name has `=`.
func cutDenial(fields string) (rest string, d Denial) {
	for kind, field := range denialFields {
		if field == "" {
			continue
		}
		if before, names, ok := strings.Cut(fields, field); ok {
			return before, Denial{DenialKind(kind), names}
		}
	}
	return fields, Denial{}
}

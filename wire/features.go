package wire

import "bytes"

// Features change what a client gets; it asks for them (docs/protocol.md, Features).
const (
	// FeatureLink makes the edge send LINK lines: when it loses the other edges, and when it
	// finds them again.
	FeatureLink = "link"
)

// Lines of features.
const (
	LineFeatures = wordFeatures + ":" + FeatureLink // what this version knows; a client turns it on so
	LineLinkUp   = "LINK:up"
	LineLinkDown = "LINK:down"
)

const wordFeatures = "FEATURES"

var errFeatures = &Error{CodeBadRequest, "FEATURES has names of a-z, 0-9 and _, with commas between"}

var comma = []byte{','}

// areFeatures reports whether names of features stand here.
func areFeatures(list []byte) bool {
	for name := range bytes.SplitSeq(list, comma) {
		if len(name) == 0 || len(bytes.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_")) > 0 {
			return false
		}
	}
	return true
}

// HasFeature reports whether a FEATURES line names this one. It allocates nothing.
func (l Line) HasFeature(name string) bool {
	for has := range bytes.SplitSeq(l.Features, comma) {
		if string(has) == name {
			return true
		}
	}
	return false
}

package wire

import (
	"bytes"
	"strings"
)

// Features are what an edge knows beyond the first version (docs/protocol.md, Features).
const (
	// FeatureLink makes the edge send LINK lines: when it loses the other edges, and when it
	// finds them again.
	FeatureLink = "link"
	// FeatureSender makes the edge say with each delivery whose token published it.
	FeatureSender = "sender"
	// FeatureConnectionID makes the edge end each ERR line with the id of the connection; see
	// [AppendConnection]. Only the answer to a line that names it has it.
	FeatureConnectionID = "connection_id"
	// FeatureWorkQueue makes messages to one connection wait for credit, marks them, and makes the
	// edge say whether a confirmed one was taken: CREDIT. Only the answer to a line that names it
	// has it, as with the next two.
	FeatureWorkQueue = "work_queue"
	// FeatureOwn makes the edge mark deliveries of what the connection has published itself, with
	// the key of the publish.
	FeatureOwn = "own"
	// FeatureReasons makes the edge say why: in ERR:permission_denied and GAP lines, and with
	// ERR:ingress_limited.
	FeatureReasons = "reasons"
	// FeatureHistory says that the edge keeps messages: RSUB and version 3 of publish frames.
	// It changes nothing for a client that sends neither, so nobody has to turn it on.
	FeatureHistory = "history"
	// FeaturePresence says that the edge knows who is present: JOIN, LEAVE, WHO and UNWHO.
	// It changes nothing for a client that sends none of these.
	FeaturePresence = "presence"
)

// Lines of features.
const (
	LineFeatures        = wordFeatures + ":" + FeatureLink          // a client turns link on so
	LineFeaturesSender  = LineFeatures + "," + FeatureSender        // likewise, with sender; the answer of an edge without histories
	LineFeaturesHistory = LineFeaturesSender + "," + FeatureHistory // the answer of an edge with histories
	LineLinkUp          = "LINK:up"
	LineLinkDown        = "LINK:down"
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

// HasFeature reports whether the FEATURES line of an edge names this one.
func (l ServerLine) HasFeature(name string) bool {
	for has := range strings.SplitSeq(l.Features, ",") {
		if has == name {
			return true
		}
	}
	return false
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

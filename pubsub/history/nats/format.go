package nats

import "github.com/millrace/millrace/pubsub/history"

// documentFormat is the newest format of the document that this version reads, and the one
// that it writes. The document has it for all: for itself, and for the messages and notes of
// the streams, which name none. One of before 0.1.0 has no format: that is format 1.
//
// A version that does not know a member of the document drops it when it changes the
// document. So a member that must not be lost makes another format, and so does whatever an
// older version would misread in a stream. The version of a record may be lost: edges that have
// a higher one configured put theirs in again.
const documentFormat = 1

// checkFormat returns a [history.ErrFormat] for a document that this version does not read.
// Nothing of such a document is taken or changed, and histories are out of reach, until it
// has a known one again.
func (d *document) checkFormat() error {
	if d.Format < 0 || d.Format > documentFormat {
		return history.UnknownFormat("the bucket with the definitions of histories", d.Format, documentFormat)
	}
	return nil
}

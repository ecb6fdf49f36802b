package nats

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// names are the names of what an overlay has in NATS. Prefix and names of histories differ
// in any two overlays, so nothing is in two of them.
type names struct{ prefix, escaped string }

// Names of buckets and streams have no dots, and the prefix of an overlay has no underscore
// once it is escaped.
var escape = strings.NewReplacer("-", "--", "_", "-u", ".", "-d")

func newNames(prefix string) names { return names{prefix, escape.Replace(prefix)} }

// bucket has the definitions.
func (n names) bucket() string { return n.escaped + "_histories" }

// stream has the messages of a history.
func (n names) stream(history string) string { return n.escaped + "_history_" + history }

// subjects is the beginning of the subjects of a history.
func (n names) subjects(history string) string { return n.prefix + ".h." + history + "." }

// What stands behind that: m.<tenant>.<channel>.= for a message, and for a note:
const (
	messageToken = "m."
	markToken    = "c.mark."    // nothing: what follows was stored after a place
	floorToken   = "c.floor."   // limits change, and have removed messages of any channel
	purgeToken   = "c.purge."   // what it is about: messages before it are deleted; the payload is the id of the call
	trimToken    = "c.trim."    // <rotation>.<tenant>: its messages up to a number, the payload, make room for others
	trimmedToken = "c.trimmed." // likewise: they are removed
	// likewise, of all tenants of an owner, in whose place <tenant> is; earlier versions ignore these
	ownerTrimToken    = "c.otrim."
	ownerTrimmedToken = "c.otrimmed."
)

// rotations is how many subjects there are for notes of a kind.
const rotations = 64

// rotated returns one of the subjects of a kind of notes. The stream keeps some of each, so
// that an edge which is behind does not find that notes are missing, which could be messages.
func rotated(token string) string { return token + strconv.Itoa(rand.IntN(rotations)) }

// tenantFilter matches the messages of a tenant; of all, if it is empty.
func (n names) tenantFilter(history, tenant string) string {
	if tenant == "" {
		return n.subjects(history) + messageToken + ">"
	}
	return string(natssubject.AppendTenant([]byte(n.subjects(history)+messageToken), []byte(tenant))) + ".>"
}

// message returns the subject of a message.
func (n names) message(history, tenant string, channel []byte) string {
	return string(natssubject.AppendChannel([]byte(n.subjects(history)+messageToken), []byte(tenant), channel))
}

// note returns the subject of a note about a channel; about a tenant if there is none, and
// about all if there is neither.
func (n names) note(history, token, tenant, channel string) string {
	b := []byte(n.subjects(history) + token)
	switch {
	case tenant == "":
		return string(append(b, allTenants...))
	case channel == "":
		return string(append(natssubject.AppendTenant(b, []byte(tenant)), tenantEnd...))
	}
	return string(natssubject.AppendChannel(b, []byte(tenant), []byte(channel)))
}

// How the subject of a note ends: that of one about a channel ends otherwise.
const (
	allTenants = "="
	tenantEnd  = ".t"
)

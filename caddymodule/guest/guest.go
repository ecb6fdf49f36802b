// Package guest has the contracts between the app `pubsub` and its guests: the
// modules of the namespaces `pubsub.token_stores`, `pubsub.brokers` and
// `pubsub.history_stores`. A guest
// implements one of the required interfaces, and those of the optional ones that
// fit it; the app asks for interfaces, and knows no guest by its type.
//
// Here, too, are what guests may use, and the guests that every build has: the broker of a
// single edge, the token store on this machine's disk, and the stores of histories.
package guest

import (
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

// StoreModule is a guest of the namespace `pubsub.token_stores`.
type StoreModule interface {
	// StoreKey identifies the store: configurations with an equal key share it.
	StoreKey() string
	// OpenStore opens the store. It outlives the configuration that opens it, and so
	// does the logger.
	OpenStore(*zap.Logger) (tokenstore.Store, error)
}

// BrokerModule is a guest of the namespace `pubsub.brokers`.
type BrokerModule interface {
	// BrokerKey identifies the broker: configurations with an equal key share it.
	BrokerKey() string
	// OpenBroker makes the broker. It outlives the configuration that makes it, and so
	// does the logger.
	OpenBroker(*zap.Logger) (pubsub.Broker, error)
}

// StoreConfigurer is a [StoreModule] some of whose options are not in its key: the
// configuration in effect sets them on the store that it shares with others.
type StoreConfigurer interface{ ConfigureStore(tokenstore.Store) }

// Announcer is a [BrokerModule] that says under which host clients reach this edge.
// The broker that it opens is a [pubsub.Directory]: it knows the edges that announce
// themselves, and is notified of this one by the app.
type Announcer interface {
	// AnnouncedHost returns the host, with a port if that is not 443; empty: this edge
	// announces none, and other edges do not list it. It is called when the module is
	// provisioned.
	AnnouncedHost() string
}

// LinkBorrower is a [StoreModule] that may use the link of a broker.
type LinkBorrower interface {
	// BorrowLink gives the store the link of the broker of its configuration, if the
	// store names none of its own and the broker has one that fits. It is called once,
	// when both are provisioned and before StoreKey; an error refuses the
	// configuration.
	BorrowLink(BrokerModule) error
}

// StorageReporter is a guest that knows whether a server inside the edge stores
// tokens.
type StorageReporter interface {
	// Storing reports whether that server has its part in storing tokens; known is
	// false where none runs, or it is not to have one. It waits for nothing, and may be
	// called concurrently.
	Storing() (storing, known bool)
}

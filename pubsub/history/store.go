package history

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Errors of a [Store]. Any other error of Append means as ErrUnavailable: the message is
// not stored, and never will be.
var (
	// ErrUnavailable: the store is out of reach, or takes no more now.
	ErrUnavailable = errors.New("the history is out of reach")
	// ErrUnconfirmed: it is not known whether the message was stored. It may still come.
	ErrUnconfirmed = errors.New("it is not known whether the message was stored")
	// ErrKeysFull: the table of keys is full. Nothing was stored.
	ErrKeysFull = errors.New("key table is full")
	// ErrTooManyChannels: more channels match than Query.MaxChannels.
	ErrTooManyChannels = errors.New("pattern matches too many channels")
	// ErrUnknown: the store has no history of this name.
	ErrUnknown = errors.New("no history has this name")
	// ErrClosed is what methods return after Close.
	ErrClosed = errors.New("the history store is closed")
)

// KeyTime is how long a key is remembered, or the age of its history if that is less.
const KeyTime = 2 * time.Minute

// Message is a message on its way into a store.
type Message struct {
	History, Tenant  string
	Channel, Payload []byte
	Sender           []byte // the subject of the token that published it; see wire.IsSender
	Key              []byte // 1 to wire.MaxKey bytes; nil: none
	TokenID          string // of the publisher, which a key belongs to if there is no Sender
	// Owner is whose the tenant is: somebody who can have any number of tenants. A name of up to 127
	// bytes, with which the tenant's begins if that is what says so; empty: that is not known, or does not
	// matter.
	Owner string

	// Mark is what Kept.Mark of this message shall be, in a [Shared] store; 0: it needs none.
	Mark uint64

	// Stored is called once, from any goroutine and perhaps before Append returns. It
	// does not block, and calls no method of the store.
	Stored func(m *Message, r Result)
}

// Result is what became of a [Message].
type Result struct {
	// Position of the message; if Repeated, of the one that its publisher stored with the same key.
	Position wire.Position
	// Repeated: the publisher has stored a message with the same key already. This one is not stored.
	Repeated bool
	Err      error // nil: it is stored
}

// Kept is a message that is stored.
type Kept struct {
	Position wire.Position
	Channel  string
	Payload  []byte // shared, never to be changed
	Sender   []byte // likewise; empty: the token had no subject, or an earlier version stored it
	Mark     uint64 // of what a [Follower] receives: Message.Mark; 0: none
}

// Query asks for a page of a tenant's messages in a history.
type Query struct {
	History, Tenant string
	Pattern         pattern.Pattern
	After           uint64 // the number after which to begin
	// Newest asks only for messages that are the newest of their channel.
	Newest bool
	// MaxChannels is how many channels may match a query with Newest; 0: any number.
	MaxChannels int
	MaxMessages int // of the page, at least 1
	// MaxBytes of the payloads, channels and senders of the page, which has one message at least,
	// if there is any.
	MaxBytes int
}

// Page is a part of what is stored: the messages that match a [Query], in ascending order
// from Query.After to Through.
type Page struct {
	Messages []Kept
	// Through is the place up to which the page has all that is stored: the head, or
	// less if the page was full or the search long.
	Through wire.Position
	// Removed is the position of the last message that was removed, by limits or a purge,
	// and that may match the query's pattern. It says nothing of removals at Query.After
	// or before, and may be behind Through. N is 0: there is none.
	Removed wire.Position
	// Why Removed was; empty: not known.
	Why wire.GapReason
	// Work is how long the store has searched, without what it waited for. It is for the tenant to
	// pay, also after an error, with which nothing else of the page holds; 0: not known.
	Work time.Duration
}

// Usage is what a history keeps of a tenant.
type Usage struct {
	History  string    `json:"history"`
	Tenant   string    `json:"tenant"`
	Channels int       `json:"channels"`
	Messages int       `json:"messages"`
	Bytes    int64     `json:"bytes"`  // bookkeeping included
	Oldest   time.Time `json:"oldest"` // when its oldest message was stored
}

// UsageError says which histories [Store].Usage does not list, and why.
type UsageError struct{ Histories map[string]error }

func (e *UsageError) Error() string {
	return "not listed: " + strings.Join(slices.Sorted(maps.Keys(e.Histories)), ", ")
}

// Unwrap returns why.
func (e *UsageError) Unwrap() []error { return slices.Collect(maps.Values(e.Histories)) }

// HealthReporter is a [Store] that may not be able to store, for all its histories. A [Shared] one has States.
type HealthReporter interface {
	// Usable returns nil if messages can be stored, as far as is known, or why not. It waits for nothing.
	Usable() error
}

// Store keeps histories. The contract, checked by historytest.Run:
//
//   - All methods may be called concurrently, Close aside.
//   - Messages of one tenant in one history get ascending positions. Message.Stored is
//     called for those that are stored in the order of their positions, one call at a
//     time for each tenant; and, of two Append calls, if one returned before the
//     other began, in the order of these.
//   - What Read returns includes all whose Stored call has begun, until it is removed.
//   - A message that a limit excludes, its age above all, is never returned.
//   - The store owns the bytes of a message from Append on, and nobody changes them.
//   - A key belongs to its publisher (the sender, else the token), tenant, channel and history,
//     and is remembered for [KeyTime]. The first payload wins. Keys are bounded, and no tenant and no owner has more than
//     half of them: beyond, Append fails with [ErrKeysFull].
//   - What is beyond [Limits].Size goes from a tenant, or from the oldest messages of an owner, that has more
//     than half of it, before anything goes from others, whoever needs the room. Somebody else becomes the owner
//     of a tenant while it has no messages, or by its name. Shares of owners hold for messages that have one.
//   - What waits in a store to be written is bounded: beyond, Append fails with
//     [ErrUnavailable], and one owner has half of that at most, and so has one tenant. Owners take turns.
type Store interface {
	// Define makes a history, if there is none of this name, and sets its limits
	// at once. What it has stays.
	Define(d Definition) error
	// Append stores a message of a history that was defined, and calls its Stored. It
	// does not wait for a disk or a network.
	Append(m *Message)
	// Head returns the position of the last message of a tenant, or where there is none a
	// position before its first.
	Head(history, tenant string) (wire.Position, error)
	// Knows reports whether a position is one of this store: its epoch is the same, N is not
	// above the head, and T agrees with what is stored around it, and with when the store
	// was opened: it may have been put back from an older copy.
	Knows(history, tenant string, p wire.Position) (bool, error)
	// Before returns the number after which the newest n messages of a channel stand, or
	// all if there are fewer, and the highest number of a message of the channel that was
	// removed, as in Page.Removed.
	Before(history, tenant, channel string, n int) (after, removed uint64, err error)
	// Read returns a page. It may wait for a disk or a network, until ctx is done.
	Read(ctx context.Context, q Query) (Page, error)
	// Purge removes for good what is stored of a channel, of a tenant if channel is
	// empty, or of all tenants if both are, and returns how many messages that were. It
	// returns when it is done, also on disk.
	Purge(history, tenant, channel string) (removed int, err error)
	// Usage lists what is stored, by history and tenant, also of histories that are in
	// no configuration any more. Where some are out of reach it lists the others, and returns a
	// [*UsageError].
	Usage() ([]Usage, error)
	// Close closes the store. Append calls that are under way are finished, or fail.
	Close() error
}

// Package clientdriver is the line protocol by which the tests of integration drive clients
// (docs/writing-a-client.md). A driver is a program that runs clients of one SDK: it reads
// commands from its standard input, and writes reports to its standard output, each a JSON
// object in a line of its own.
package clientdriver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Environment variables of a driver. Both name the same file, in PEM.
const (
	RootsVariable     = "MILLRACE_ROOTS"      // the authorities that its clients trust, and no others
	NodeRootsVariable = "NODE_EXTRA_CA_CERTS" // so that a driver in Node trusts them by itself
)

// Commands are the values of [Command.Cmd].
var Commands = []string{
	"connect", "token", "subscribe", "read", "unsubscribe", "drain", "position", "publish", "flush", "online", "close",
	"renewToken", "retry",
	"join", "leave", "presence", "members", "closePresence",
	"issue", "refresh", "revoke", "list", // of a TokenAdmin
}

// Events are the values of [Report.Event]: those of the driver, and those of SDKs by their
// names in TypeScript (docs/reference/typescript.md).
var Events = []string{
	"hello", "answer", "message", "subscriptionEnded", "tokenWanted", "ended",
	"presenceChange", "presenceEnded", "membershipEnded",

	"connecting", "connected", "suspect", "recovered", "disconnected", "reconnecting", "reconnected", "gap", "moving", "moved",
	"publishError", "publishUnknown", "subscriptionError", "slowConsumer", "limited", "linkDown", "linkUp", "queueFull",
	"discarded",
	"edgeError", "roundTrip", "closed",
}

// Features are the values of [Report.Lacks].
var Features = []string{
	"queues", "work-queues", "histories", "token-provider", "renew-token", "expires-in", "logged-out", "token-admin", "edge-lists",
	"several-edges", "fallback", "reconnect", "retry", "retry-after", "moves", "links", "suspicion", "senders", "presence",
}

// Command is one to a client. A driver carries out the commands of a client in their order,
// and answers each.
type Command struct {
	ID        int      `json:"id"` // unique among the commands of the client
	Client    string   `json:"client"`
	Cmd       string   `json:"cmd"`
	Addresses []string `json:"addresses,omitempty"` // URLs of edges, or of lists of edges
	Options   *Options `json:"options,omitempty"`
	Sub       string   `json:"sub,omitempty"`  // a subscription, by the name that subscribe gives it
	Mode      string   `json:"mode,omitempty"` // iterate, callback or held
	Tenant    string   `json:"tenant"`
	Pattern   string   `json:"pattern,omitempty"`
	Channel   string   `json:"channel,omitempty"`
	Payload   []byte   `json:"payload,omitempty"`  // in Base64
	Delivery  string   `json:"delivery,omitempty"` // broadcast, one-nearest or one-random; empty: the SDK's default
	Confirm   bool     `json:"confirm,omitempty"`
	Key       string   `json:"key,omitempty"`
	Member    string   `json:"member,omitempty"` // a membership, by the name that join gives it
	Watch     string   `json:"watch,omitempty"`  // a presence, by the name that presence gives it
	Count     bool     `json:"count,omitempty"`  // of presence
	Token     string   `json:"token,omitempty"`
	ExpiresAt string   `json:"expiresAt,omitempty"` // RFC 3339
	ExpiresIn int      `json:"expiresIn,omitempty"` // ms
	Text      string   `json:"text,omitempty"`      // of the token provider's failure
	LoggedOut bool     `json:"loggedOut,omitempty"` // the failure says that there will be no token any more

	Master   string   `json:"master,omitempty"` // a master token: the command is for a TokenAdmin
	TokenID  string   `json:"tokenId,omitempty"`
	Seconds  int      `json:"seconds,omitempty"`  // until the expiry
	Rules    []string `json:"rules,omitempty"`    // for publishing and for subscribing
	Presence []string `json:"presence,omitempty"` // rules for watching who is present
	Subject  string   `json:"subject,omitempty"`  // of the token
}

// Options are those of a client and of a subscription; see docs/reference/typescript.md. Durations are
// milliseconds, and 0 is the SDK's default.
type Options struct {
	Token          string   `json:"token,omitempty"`
	Provider       bool     `json:"provider,omitempty"` // a token provider that asks by tokenWanted
	Transports     []string `json:"transports,omitempty"`
	FallbackAfter  int      `json:"fallbackAfter,omitempty"`
	ConnectTimeout int      `json:"connectTimeout,omitempty"`
	KeepAlive      int      `json:"keepAlive,omitempty"`
	PongTimeout    int      `json:"pongTimeout,omitempty"`
	MinBackOff     int      `json:"minBackOff,omitempty"`
	MaxBackOff     int      `json:"maxBackOff,omitempty"`
	Queue          int      `json:"queue,omitempty"`
	QueuePolicy    string   `json:"queuePolicy,omitempty"`
	History        any      `json:"history,omitempty"` // now, last, {"last":n} or {"after":position}
	Hashes         [][]byte `json:"hashes,omitempty"`  // of certificates; for browsers
	Sender         bool     `json:"sender,omitempty"`
	WithoutEcho    bool     `json:"withoutEcho,omitempty"` // of a subscription: leave out the client's own messages
}

// Report is what a driver says. What is empty may be left out.
type Report struct {
	Client string `json:"client,omitempty"`
	Event  string `json:"event"`
	ID     int    `json:"id,omitempty"` // of the command that is answered
	Error  *Error `json:"error,omitempty"`

	Transports []string `json:"transports,omitempty"` // of hello
	Lacks      []string `json:"lacks,omitempty"`      // of hello

	Sub      string   `json:"sub,omitempty"`
	Tenant   string   `json:"tenant,omitempty"`
	Channel  string   `json:"channel,omitempty"`
	Pattern  string   `json:"pattern,omitempty"`
	Payload  []byte   `json:"payload,omitempty"` // in Base64
	Patterns []string `json:"patterns,omitempty"`
	Late     bool     `json:"late,omitempty"`
	Position string   `json:"position,omitempty"`
	Sender   string   `json:"sender,omitempty"`
	Own      bool     `json:"own,omitempty"`
	Key      string   `json:"key,omitempty"` // of an own message
	Before   string   `json:"before,omitempty"`
	Complete bool     `json:"complete,omitempty"`

	Member     string         `json:"member,omitempty"`
	Watch      string         `json:"watch,omitempty"`
	Type       string         `json:"type,omitempty"` // of presenceChange: joined, left, changed or counts
	MemberInfo *Member        `json:"memberInfo,omitempty"`
	Count      int            `json:"count,omitempty"`
	Members    []Member       `json:"members,omitempty"`
	Counts     map[string]int `json:"counts,omitempty"` // by channel
	Synced     bool           `json:"synced,omitempty"`

	Edge      string  `json:"edge,omitempty"`
	Transport string  `json:"transport,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	Away      float64 `json:"away,omitempty"`  // ms
	RTT       float64 `json:"rtt,omitempty"`   // ms
	Delay     float64 `json:"delay,omitempty"` // ms
	Direction string  `json:"direction,omitempty"`
	Attempt   int     `json:"attempt,omitempty"`
	Dropped   int     `json:"dropped,omitempty"`
	Code      string  `json:"code,omitempty"`
	Detail    string  `json:"detail,omitempty"`
	Cause     *Error  `json:"cause,omitempty"` // of edgeError

	Token     string  `json:"token,omitempty"`
	TokenID   string  `json:"tokenId,omitempty"`
	ExpiresAt string  `json:"expiresAt,omitempty"` // RFC 3339
	Tokens    []Token `json:"tokens,omitempty"`

	At time.Time `json:"-"` // when the test got it
}

// Token is one of those that a TokenAdmin lists.
type Token struct {
	TokenID string `json:"tokenId"`
	Status  string `json:"status"`
}

// Member is a subject that is present in a channel.
type Member struct {
	Channel string          `json:"channel"`
	Subject string          `json:"subject"`
	Info    json.RawMessage `json:"info,omitempty"` // a JSON object
	Since   string          `json:"since"`          // RFC 3339
}

// Error is an error of an SDK.
type Error struct {
	Code      string `json:"code"` // of docs/errors.md; empty: the SDK did not foresee it
	Text      string `json:"text"`
	Tenant    string `json:"tenant,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
	Channel   string `json:"channel,omitempty"`
	Status    int    `json:"status,omitempty"`    // of HTTP
	CloseCode int    `json:"closeCode,omitempty"` // of the connection
	Cause     *Error `json:"cause,omitempty"`     // the error behind it
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Text) }

// ErrorCode is that of an error, and empty without one.
func (e *Error) ErrorCode() string {
	if e == nil {
		return ""
	}
	return e.Code
}

// ParseReport reads a line of a driver. The error says what is wrong with it. Fields that a
// report does not have are passed over.
func ParseReport(line []byte) (r Report, err error) {
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	switch {
	case r.Event == "":
		return r, errors.New("it names no event")
	case !slices.Contains(Events, r.Event):
		return r, fmt.Errorf("there is no event %q", r.Event)
	case r.Event == "hello":
		return r, r.checkHello()
	case r.Client == "":
		return r, errors.New("it names no client")
	case r.Event == "answer" && r.ID == 0:
		return r, errors.New("the answer has no id")
	case (r.Event == "message" || r.Event == "subscriptionEnded") && r.Sub == "":
		return r, errors.New("it names no subscription (sub)")
	case (r.Event == "presenceChange" || r.Event == "presenceEnded") && r.Watch == "":
		return r, errors.New("it names no presence (watch)")
	case r.Event == "membershipEnded" && r.Member == "":
		return r, errors.New("it names no membership (member)")
	}
	return r, nil
}

func (r Report) checkHello() error {
	if len(r.Transports) == 0 {
		return errors.New("it names no transports")
	}
	for _, name := range r.Transports {
		if name != "websocket" && name != "webtransport" {
			return fmt.Errorf("there is no transport %q", name)
		}
	}
	for _, name := range r.Lacks {
		if !slices.Contains(Features, name) {
			return fmt.Errorf("there is no feature %q that a client could lack", name)
		}
	}
	return nil
}

// String is the report without what is empty, and the second in which it came.
func (r Report) String() string {
	var fields map[string]any
	text, _ := json.Marshal(r)
	_ = json.Unmarshal(text, &fields) // both can be encoded
	maps.DeleteFunc(fields, func(_ string, v any) bool {
		return v == nil || reflect.ValueOf(v).IsZero()
	})
	fields["at"] = r.At.Format("05.000")
	text, _ = json.Marshal(fields)
	return string(text)
}

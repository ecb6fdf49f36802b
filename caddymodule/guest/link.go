package guest

import "time"

// LinkReporter is a broker, or a store of tokens or histories, that is reached over a
// connection of its own.
type LinkReporter interface {
	// LinkState says how the connection is. It waits for nothing, and may be called concurrently.
	LinkState() LinkState
}

// LinkState is how a connection is.
type LinkState struct {
	Of        string       `json:"of"`        // "broker", "tokens" or "history"
	Connected bool         `json:"connected"` // to a server
	Trouble   *LinkTrouble `json:"trouble,omitempty"`
}

// LinkTrouble is what is wrong with a connection, or with what is behind it.
type LinkTrouble struct {
	Code   string    `json:"code"`   // docs/operations.md lists them
	Reason string    `json:"reason"` // what the code means. It names nothing, so strangers may read it
	Error  string    `json:"error"`  // for operators, without secrets
	Since  time.Time `json:"since"`
}

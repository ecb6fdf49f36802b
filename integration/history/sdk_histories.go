package history

import ()

// Last and historyAfter are forms of the option history.
type (
	Last struct {
		Last int `json:"last"`
	}
	After struct {
		After string `json:"after"`
	}
)

package harness

import ()

const (
	AnnSubject = "ann ☺ <x>"
	Mallory    = "mallory"
)

// Package console tests the console: its access, its API and its page.
package console

package main

import (
	"os"
	"strings"
	"testing"
)

// docs/architecture.md shows the packages as they are.
func TestArchitectureIsCurrent(t *testing.T) {
	var current strings.Builder
	if err := write(&current, "../.."); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```\n"+current.String()+"```\n") {
		t.Errorf("docs/architecture.md does not show what `go run ./internal/packagemap` prints:\n%s", current.String())
	}
}

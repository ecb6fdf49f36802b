// Package version says which version of Millrace a program was built from.
package version

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
)

// Module is the path of the module that has this version.
const Module = "github.com/millrace/millrace"

// number is the version, without a v. It is here alone: the test of this package compares
// the manifests of the SDKs and the console, and the changelog, with it. A build may name
// another one, the same each time it is made from the same sources:
//
//	go build -ldflags "-X github.com/millrace/millrace/internal/version.number=0.1.1-rc.1" ./cmd/millrace
var number = "0.1.0"

// Unknown is the revision of a build that does not know it.
const Unknown = "unknown"

// Number returns the version by Semantic Versioning, without a v, such as 0.1.0. It is the
// same however the program was built, also where Millrace is a dependency of it.
func Number() string { return number }

// String names Millrace, its version, and that of Go, for people.
func String() string { return "Millrace " + number + ", " + runtime.Version() }

// Revision returns the commit that the program was built from, with -dirty behind it if
// the sources were changed since, or [Unknown].
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Unknown
	}
	return revision(info)
}

// pseudo matches the versions that Go makes for commits without a tag; the group is the
// beginning of the commit's hash.
var pseudo = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})(?:\+dirty)?$`)

// revision looks for the commit where Go puts it: in the settings where the program is of
// this module, and in the version of the module where it is a dependency.
func revision(info *debug.BuildInfo) string {
	if info.Main.Path != Module {
		for _, m := range info.Deps {
			if m.Path != Module {
				continue
			}
			if m.Replace != nil {
				m = m.Replace
			}
			if parts := pseudo.FindStringSubmatch(m.Version); parts != nil {
				return parts[1]
			}
		}
		return Unknown
	}
	commit, dirty := Unknown, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && s.Value != "":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == Unknown {
		return Unknown
	}
	return commit + dirty
}

// UnknownFormat says for people that something is stored in a format that this version does
// not read; reads is the newest that it reads.
func UnknownFormat(what string, format, reads int) string {
	known := "format 1"
	if reads > 1 {
		known = fmt.Sprintf("formats 1 to %d", reads)
	}
	return fmt.Sprintf("%s has format %d, and Millrace %s reads %s: another version has written it, use that one or a newer one; nothing was changed",
		what, format, number, known)
}

// Package sdk drives clients of the SDKs by the same commands wherever they run: in drivers
// (docs/writing-a-client.md), which are programs of their own, for Go, Node and Python, and in
// pages of Chromium and Firefox. With MILLRACE_CLIENT the driver that it names takes their place.
package sdk

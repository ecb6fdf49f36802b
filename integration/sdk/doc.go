// Package sdk drives the SDKs by the same commands wherever they run, see [Host]: in drivers,
// which are programs of their own, for Go, Node and Python, and in pages of Chromium and
// Firefox. With MILLRACE_CLIENT the driver that it names takes their place; see
// docs/writing-a-client.md.
package sdk

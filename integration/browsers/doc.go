// Package browsers tests pages in Chromium and Firefox: the demo page, WebTransport, presence.
package browsers

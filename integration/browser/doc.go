// Package browser drives pages in Chromium and Firefox, by clients/browser.mjs.
package browser

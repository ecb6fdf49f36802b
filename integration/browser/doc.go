// Package browser drives pages in Chromium and Firefox, and other clients that are not ours.
package browser

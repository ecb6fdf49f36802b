// Package sdks plays scenarios with all SDKs, wherever they run.
package sdks

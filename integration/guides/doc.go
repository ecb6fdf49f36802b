// Package guides runs the blocks of README.md, docs/quickstart and docs/how-to as a reader
// would: it writes the files that a page shows, pastes its commands into a shell, and compares
// what they print. Only ports and installs differ: see [Open].
package guides

//go:build !(linux || darwin || freebsd)

package diskspace

import "errors"

// Known: this system says how much room there is.
const Known = false

// Free returns an error: nobody knows.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }

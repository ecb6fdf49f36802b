//go:build !unix

package loadgen

import "net"

// ReadLoop reads conn until it ends, and calls take with the bytes that take left over
// before, at first early, and those that arrived after them. take returns how many bytes
// it has consumed, and must not keep any. An error of take ends the loop.
func ReadLoop(conn *net.TCPConn, early []byte, take func(b []byte) (used int, err error)) error {
	in := inbox{buf: append([]byte(nil), early...), end: len(early)}
	for {
		need := 0
		if n := len(in.bytes()); n == len(in.buf) {
			need = 2 * n
		}
		if err := in.fill(conn, need); err != nil {
			return err
		}
		used, err := take(in.bytes())
		in.take(used)
		if err != nil {
			return err
		}
	}
}

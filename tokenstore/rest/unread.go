package rest

import (
	"io"
	"net/http"
	"time"
)

// linger is how long a connection is read after an answer that did not wait for the
// request's body: one that is closed with bytes unread is reset, and the reset may
// overtake the answer (RFC 9112, section 9.6).
const linger = time.Second

// body is a request body that knows whether it was read to its end.
type body struct {
	io.ReadCloser
	ended bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

// unread reports whether an answer must not wait for the rest of the request's body.
// Over HTTP/1.1 net/http would, up to 256 KiB, unless the answer is the connection's
// last. In the later versions a stream that is answered ends by itself.
func (b *body) unread(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ContentLength != 0 && !b.ended
}

// discard sends the answer, and then reads on for a while, so that the client
// gets to read the answer. The connection closes when the handler returns.
func (b *body) discard(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(linger)) != nil || control.Flush() != nil {
		return // no connection that waits
	}
	if r.Header.Get("Expect") == "" { // else the client waits with its body
		_, _ = io.CopyN(io.Discard, b, maxDiscard)
	}
}

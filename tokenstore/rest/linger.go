package rest

import (
	"io"
	"net/http"
	"time"
)

// lingerTimeout is how long a connection is read after an answer that did not wait for
// the request's body. A connection that is closed with unread bytes is reset, and the
// reset may overtake the answer (RFC 9112, section 9.6).
const lingerTimeout = time.Second

// requestBody is a request body that notes whether it was read to its end.
type requestBody struct {
	io.ReadCloser
	readToEnd bool
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.readToEnd = b.readToEnd || err != nil
	return n, err
}

// mustClose reports whether the connection must close after the answer, because the rest
// of the request's body is unread. Over HTTP/1.1 net/http would read up to 256 KiB of it
// before it sends the answer, unless the answer is the connection's last. In later
// versions of HTTP a stream that is answered ends by itself.
func (b *requestBody) mustClose(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ContentLength != 0 && !b.readToEnd
}

// linger sends the answer, and then reads on for a while, so that the client has time to
// read the answer. The connection closes when the handler returns.
func (b *requestBody) linger(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(lingerTimeout)) != nil || control.Flush() != nil {
		return // this connection has no deadline, or cannot be flushed
	}
	if r.Header.Get("Expect") == "" { // else the client has not sent its body
		_, _ = io.CopyN(io.Discard, b, maxDiscard)
	}
}

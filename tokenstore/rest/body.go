package rest

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// MaxBody is the highest number of bytes in a request body.
const MaxBody = 64 << 10

// maxDiscard is how many bytes of a body that is too large are read and discarded, so
// that its sender sees the refusal and not a reset connection.
const maxDiscard = 2 << 20

// readBody checks the type, then the size, and reads the body. A client that asks with
// Expect: 100-continue is refused before it sends a body that is too large.
func readBody(r *http.Request) ([]byte, *Problem) {
	if !isJSON(r.Header) {
		return nil, refusal(CodeUnsupportedMediaType,
			"allowed: Content-Type application/json, charset absent or utf-8, no Content-Encoding")
	}
	tooLarge := refusal(CodeBodyTooLarge, "allowed: "+strconv.Itoa(MaxBody)+" bytes")
	if r.ContentLength > MaxBody {
		if r.ContentLength <= maxDiscard && r.Header.Get("Expect") == "" {
			_, _ = io.CopyN(io.Discard, r.Body, maxDiscard)
		}
		return nil, tooLarge
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, refusal(CodeInvalidBody, "body: could not be read to its end")
	case len(content) > MaxBody:
		_, _ = io.CopyN(io.Discard, r.Body, maxDiscard)
		return nil, tooLarge
	}
	return content, nil
}

func isJSON(h http.Header) bool {
	types := h.Values("Content-Type")
	if len(types) != 1 || h.Get("Content-Encoding") != "" {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	charset, given := params["charset"]
	return err == nil && mediaType == "application/json" &&
		(!given || strings.EqualFold(charset, "utf-8"))
}

package rest

import (
	"bufio"
	"encoding/json"
	"io"
	"runtime"

	"github.com/millrace/millrace/tokenstore"
)

// A TokenPage is the JSON body that answers GET /v1/tokens.
type TokenPage struct {
	Tokens     []tokenstore.AccessInfo
	NextCursor string // empty on the last page

	written func() // nil: nobody waits for that
}

// streamBuffer is how many bytes of a page are written at once.
const streamBuffer = 16 << 10

// Stream writes the page as JSON, token by token, so that it need not be in memory as a whole. A
// write that fails means that the client is gone: it ends the page.
func (p TokenPage) Stream(w io.Writer) {
	out := bufio.NewWriterSize(w, streamBuffer)
	separator := `{"tokens":[`
	for i := range p.Tokens {
		_, _ = out.WriteString(separator)
		if _, err := out.Write(marshal(&p.Tokens[i])); err != nil {
			return
		}
		separator = ","
		runtime.Gosched() // a large token takes 0.5 ms
	}
	if len(p.Tokens) == 0 { // a list, never null
		_, _ = out.WriteString(separator)
	}
	_, _ = out.WriteString(`],"next_cursor":`)
	_, _ = out.Write(marshal(p.NextCursor))
	_, _ = out.WriteString("}")
	_ = out.Flush()
}

// marshal returns the JSON of a part of an answer.
func marshal(body any) []byte {
	b, err := json.Marshal(body)
	if err != nil {
		panic("rest: a body that does not marshal: " + err.Error())
	}
	return b
}

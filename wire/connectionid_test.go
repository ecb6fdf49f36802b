package wire

import (
	"strings"
	"testing"
)

// An ERR line has the id of its connection behind everything else, and clients find both.
func TestConnectionID(t *testing.T) {
	const id ConnectionID = 0x5f3a9c01b2
	for _, line := range []string{"ERR:internal", "ERR:slow_consumer:7", "ERR:permission_denied:SUB:t:a.*", "ERR:unconfirmed:PUB:5"} {
		tagged := AppendConnection([]byte(line), id)
		if string(tagged) != line+":connection=0000005f3a9c01b2" {
			t.Errorf("got %s", tagged)
		}
		plain, err1 := ParseServerLine([]byte(line))
		got, err2 := ParseServerLine(tagged)
		if err1 != nil || err2 != nil || got.ConnectionID != id || plain.ConnectionID != 0 {
			t.Errorf("%s: %+v, %v, %v", line, got, err1, err2)
		}
		if got.ConnectionID = 0; got != plain {
			t.Errorf("%s: %+v, without the id %+v", line, got, plain)
		}
	}
	full := strings.Repeat("x", MaxLine-20)
	if got := AppendConnection([]byte(full), id); string(got) != full {
		t.Error("a line is too long")
	}
	for _, text := range []string{"", "0", "5f3a9c01b2", "0000005F3A9C01B2", "0000005f3a9c01b20", "0000000000000000", "-000005f3a9c01b2"} {
		if got, ok := ParseConnectionID(text); ok {
			t.Errorf("%q is the id %v", text, got)
		}
	}
	var read ConnectionID
	if text, _ := id.MarshalText(); read.UnmarshalText(text) != nil || read != id || read.UnmarshalText([]byte("x")) == nil {
		t.Error("as text it is another one")
	}
}

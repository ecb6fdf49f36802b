package credentials

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// headerLimit is Caddy's limit of a request's header.
const headerLimit = 16 << 10

// of repeats a text up to a length.
func of(length int, text string) string { return strings.Repeat(text, length/len(text)+1)[:length] }

// costs are requests of strangers, and the most bytes that a guard may compare for
// each byte of their headers: 1 where nothing is encoded, 3 where something is.
var costs = []struct {
	name    string
	perByte int
	values  map[string][]string
}{
	{"ordinary", 0, map[string][]string{"X-A": {of(headerLimit, "abcdefgh ")}}},
	{"words with _", 1, map[string][]string{"X-A": {of(headerLimit, "some_thing ")}}},
	{"almost tokens", 1, map[string][]string{"X-A": {of(headerLimit, "xAT_0011223_")}}},
	{"almost IDs", 1, map[string][]string{"X-A": {of(headerLimit, someID[1:]+"_")}}},
	{"encoded at the end", 1, map[string][]string{"X-A": {of(headerLimit-9, "a") + "_%2525zz"}}},
	{"encoded at the start", 3, map[string][]string{"X-A": {"%_" + of(headerLimit-2, "aT")}}},
	{"encoded again and again", 3, map[string][]string{"X-A": {of(headerLimit, "%25252541T_")}}},
	{"almost encoded", 3, map[string][]string{"X-A": {of(headerLimit, "%_%4")}}},
	{"many values", 3, map[string][]string{"X-A": distinct(headerLimit/40, "%41T_0011%30 ")}},
	{"a subprotocol list", 3, map[string][]string{wsList: {of(headerLimit, "at.%41_ ")}}},
	{"entries that are empty", 1, map[string][]string{wsList: {"at.a_" + of(headerLimit-5, ",")}}},
	{"entries", 1, map[string][]string{wsList: {"at.a_" + of(headerLimit-5, ",a_")}}},
	{"a structured list", 1, map[string][]string{wtList: {`"at.a_"` + of(headerLimit-7, ",a_")}}},
	{"parameters", 1, map[string][]string{wtList: {`"at.a_"` + of(headerLimit-7, ";a_")}}},
	{"an inner list", 1, map[string][]string{wtList: {`("at.a_"` + of(headerLimit-8, " a_")}}},
	{"a long string", 9, map[string][]string{wtList: {`"at.a", "` + of(headerLimit-10, `%\\a_`) + `"`}}},
}

func distinct(n int, text string) (values []string) {
	for i := range n {
		values = append(values, fmt.Sprintf("%s%d", text, i))
	}
	return values
}

func requestOf(values map[string][]string) (r *http.Request, length int) {
	r = httptest.NewRequest(http.MethodGet, "/", nil)
	for name, list := range values {
		for _, v := range list {
			length += len(v)
			r.Header.Add(name, strings.Clone(v))
		}
	}
	return r, length
}

// What a request costs is in proportion to the length of its header.
func TestCost(t *testing.T) {
	for _, c := range costs {
		r, length := requestOf(c.values)
		var in Inspection
		if in.TokenInTarget(r) {
			t.Fatal("a token in the target")
		}
		in.TakeTokens(r)
		if in.steps > c.perByte*(length+16) || c.perByte > 0 && in.steps < length/4 && !exceeds(c.values) {
			t.Errorf("%s: %d steps for %d bytes, want %d for each at most", c.name, in.steps, length, c.perByte)
		}
	}
}

func exceeds(values map[string][]string) bool {
	return exceedsEntries(values[wsList]) || exceedsEntries(values[wtList])
}

// Of equal values a guard reads one, also where they are in different headers and
// in the target.
func TestEqualValuesCostOnce(t *testing.T) {
	value := "/" + of(headerLimit/4, "some_thing%20")
	r, _ := requestOf(map[string][]string{"X-A": {value, value, value + "x"}, "X-B": {value}, wsList: {value}, wtList: {value}})
	r.RequestURI, r.Host = value, value
	var in Inspection
	in.TokenInTarget(r)
	in.TakeTokens(r)
	_, once := findToken(value)
	_, other := findToken(value + "x")
	if in.steps != once+other {
		t.Errorf("%d steps, want %d and %d", in.steps, once, other)
	}
}

// A request that a guard has read no other guard reads again.
func TestInspected(t *testing.T) {
	for _, c := range costs {
		r, _ := requestOf(c.values)
		clean, _ := new(Inspection).TakeTokens(r)
		if Inspected(r) || Inspected(clean) != (c.perByte > 0) {
			t.Errorf("%s: inspected: %v before, %v after", c.name, Inspected(r), Inspected(clean))
		}
	}
}

// BenchmarkRequest is requests over a kept HTTP/1.1 connection, to a handler that
// inspects them and does nothing else: the worst against the ordinary one.
func BenchmarkRequest(b *testing.B) {
	for _, c := range costs {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			client := serve(b)
			text := "GET / HTTP/1.1\r\nHost: localhost\r\n"
			for name, values := range c.values {
				for _, v := range values {
					text += name + ": " + v + "\r\n"
				}
			}
			text += "\r\n"
			answers := bufio.NewReader(client)
			for b.Loop() {
				if _, err := io.WriteString(client, text); err != nil {
					b.Fatal(err)
				}
				res, err := http.ReadResponse(answers, nil)
				if err != nil || res.StatusCode != http.StatusNoContent {
					b.Fatal(res, err)
				}
			}
		})
	}
}

// serve starts a server and returns a connection to it.
func serve(b *testing.B) net.Conn {
	b.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in Inspection
		in.TokenInTarget(r)
		in.TakeTokens(r)
		w.WriteHeader(http.StatusNoContent)
	}))
	server.Config.MaxHeaderBytes = headerLimit
	server.Start()
	b.Cleanup(server.Close)
	client, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close() })
	return client
}

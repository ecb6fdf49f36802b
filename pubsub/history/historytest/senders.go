package historytest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// testSenders: a message has the sender with which it was stored, however it is read.
func testSenders(r *rig) {
	senders := []string{"", "ann", " ann ", "Ännchen 😀", "\"x\"", "\ufeff", "a: b, c", strings.Repeat("u", wire.MaxSender)}
	payloads := [][]byte{nil, []byte("x"), bytes.Repeat([]byte("p"), 600_000)}
	var want []string
	for i, sender := range senders {
		for j, payload := range payloads {
			m := history.Message{History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d.%d", i, j), Payload: payload, Sender: []byte(sender)}
			if j == 1 {
				m.Key = []byte("key")
			}
			if res := r.append(m); res.Err != nil {
				r.Fatal(res.Err)
			}
			want = append(want, fmt.Sprintf("%s %d %q", m.Channel, len(payload), sender))
		}
	}
	for _, pattern := range []string{"c.#", "c.1.1", "c.*.2"} {
		for _, newest := range []bool{false, true} {
			q := query(pattern, 0)
			q.Newest, q.MaxBytes = newest, 1<<30
			var expected, got []string
			for _, line := range want {
				if channel, _, _ := strings.Cut(line, " "); q.Pattern.Match(channel) {
					expected = append(expected, line)
				}
			}
			for _, m := range r.page(q).Messages {
				got = append(got, fmt.Sprintf("%s %d %q", m.Channel, len(m.Payload), m.Sender))
			}
			if strings.Join(got, "\n") != strings.Join(expected, "\n") {
				r.Errorf("%s, newest %v: got\n%s\nwant\n%s", pattern, newest, strings.Join(got, "\n"), strings.Join(expected, "\n"))
			}
		}
	}
	r.define("other", history.DefaultLimits())
	for sender, tenant := range map[string]string{"": "without", strings.Repeat("u", 100): "with"} {
		for range 100 {
			if res := r.append(history.Message{History: "other", Tenant: tenant, Channel: []byte("c"), Sender: []byte(sender)}); res.Err != nil {
				r.Fatal(res.Err)
			}
		}
	}
	bytesOf := map[string]int64{}
	list, err := r.Usage()
	if err != nil {
		r.Fatal(err)
	}
	for _, u := range list {
		bytesOf[u.Tenant] = u.Bytes
	}
	if more := bytesOf["with"] - bytesOf["without"]; more < 100*100 {
		r.Errorf("100 senders of 100 bytes count for %d bytes", more)
	}
}

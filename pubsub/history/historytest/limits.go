package historytest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

func testMessages(r *rig) {
	r.define("h", limits(func(l *history.Limits) { l.Messages = 3 }))
	var at []uint64
	for i := range 6 {
		at = append(at, r.put("busy", fmt.Sprint(i)).N)
		if i == 0 {
			at = append(at, r.put("quiet", "q").N)
		}
	}
	// at: busy 0, quiet, busy 1 to 5
	r.expect(query("#", 0), "quiet=q busy=3 busy=4 busy=5")
	for i, lost := range []bool{true, true, true, false, false, false, false} {
		r.expectRemoved(query("#", at[i]), lost)
		r.expectRemoved(query("busy", at[i]), lost)
		r.expectRemoved(query("quiet", at[i]), false)
	}
	// A page that ends before what is left of the channel knows of the loss, too.
	q := query("#", at[0])
	q.MaxMessages = 1
	r.expectRemoved(q, true)
}

func testSize(r *rig) {
	r.define("h", limits(func(l *history.Limits) { l.Size, l.Messages = history.MinSize, 100_000 }))
	payload := strings.Repeat("x", 10_000)
	first := r.put("c", payload).N
	for i := range 200 {
		r.put(fmt.Sprintf("c.%d", i), payload)
	}
	kept := len(strings.Fields(r.texts(query("#", 0))))
	if kept < 50 || kept > 104 {
		r.Errorf("a MiB holds %d messages of 10,000 bytes", kept)
	}
	r.expectRemoved(query("#", first), true)
	r.expectRemoved(query("c", first), true) // cautious, and yet for all channels
	usage, err := r.Usage()
	if err != nil || len(usage) != 1 || usage[0].Messages != kept || usage[0].Bytes > history.MinSize {
		r.Errorf("usage %+v, %v", usage, err)
	}
}

// A tenant that has more than half of a history pays for its own growth; and so does an owner of many
// tenants, each of which has less.
func testSizeShare(r *rig) {
	for _, owner := range []string{"", "loud."} {
		r.define("h", limits(func(l *history.Limits) { l.Size, l.Messages = history.MinSize, 100_000 }))
		if _, err := r.Purge("h", "", ""); err != nil {
			r.Fatal(err)
		}
		r.put("c", "quiet")
		for i := range 300 {
			m := history.Message{History: "h", Tenant: "loud", Channel: []byte("c"), Payload: make([]byte, 10_000), Owner: owner}
			if owner != "" {
				m.Tenant = fmt.Sprint(owner, i%16)
			}
			if res := r.append(m); res.Err != nil {
				r.Fatal(res.Err)
			}
		}
		r.expect(query("#", 0), "c=quiet")
	}
}

func testAge(r *rig) {
	r.define("h", limits(func(l *history.Limits) { l.Age = time.Second }))
	at := r.put("c", "old").N
	quiet := query("#", 0)
	deadline := time.Now().Add(timeout)
	for len(r.page(quiet).Messages) > 0 {
		if time.Now().After(deadline) {
			r.Fatal("a message of a second is there for good")
		}
		time.Sleep(50 * time.Millisecond) // until its age has passed
	}
	r.expectRemoved(query("#", at-1), true)
	r.expectRemoved(query("#", at), false)
	r.put("c", "new")
	r.expect(quiet, "c=new")
	r.expectRemoved(query("#", at), false)
}

func testLimits(r *rig) {
	var at []uint64
	for i := range 10 {
		at = append(at, r.put("c", fmt.Sprint(i)).N)
	}
	r.define("h", limits(func(l *history.Limits) { l.Messages = 2 }))
	r.expect(query("c", 0), "c=8 c=9")
	r.expectRemoved(query("c", at[6]), true)
	r.expectRemoved(query("c", at[7]), false)
	r.define("h", history.DefaultLimits())
	r.put("c", "10")
	r.expect(query("c", 0), "c=8 c=9 c=10")
	r.expectRemoved(query("c", at[6]), true) // what was removed under other limits is gone
	r.expectRemoved(query("c", at[7]), false)
}

func testPurge(r *rig) {
	first := r.put("a", "1").N
	b := r.put("b", "2").N
	r.put("a", "3")
	if n, err := r.Purge("h", "t", "a"); n != 2 || err != nil {
		r.Errorf("purged %d, %v", n, err)
	}
	r.expect(query("#", 0), "b=2")
	r.expectRemoved(query("#", b), true)
	r.expectRemoved(query("a", first), true)
	last := r.put("a", "4")
	r.expect(query("#", 0), "b=2 a=4")
	if n, err := r.Purge("h", "t", ""); n != 2 || err != nil {
		r.Errorf("purged %d of the tenant, %v", n, err)
	}
	r.expect(query("#", 0), "")
	r.expectRemoved(query("#", last.N-1), true)
	r.expectRemoved(query("#", last.N), false)
	if at := r.put("a", "5"); at.N <= last.N {
		r.Errorf("after a purge, %v follows %v", at, last)
	}
	if n, err := r.Purge("h", "", ""); n != 1 || err != nil {
		r.Errorf("purged %d of the history, %v", n, err)
	}
	if n, err := r.Purge("h", "nobody", ""); n != 0 || err != nil {
		r.Errorf("purged %d of nobody, %v", n, err)
	}
}

func testKnows(r *rig) {
	first := r.put("a", "1")
	last := r.put("b", "2")
	for _, c := range []struct {
		name          string
		epoch, n, t   uint64
		want, wantErr bool
	}{
		{"the first", first.Epoch, first.N, first.T, true, false},
		{"the head", last.Epoch, last.N, last.T, true, false},
		{"another epoch", last.Epoch + 1, last.N, last.T, false, false},
		{"above the head", last.Epoch, last.N + 1, last.T, false, false},
		{"another time", last.Epoch, last.N, last.T + 1, false, false},
		{"another time of an older one", first.Epoch, first.N, first.T - 1, false, false},
		{"before the first", first.Epoch, first.N - 1, 0, true, false},
		{"before the first, and later", first.Epoch, first.N - 1, last.T + 1, false, false},
	} {
		p := last
		p.Epoch, p.N, p.T = c.epoch, c.n, c.t
		got, err := r.Knows("h", "t", p)
		if got != c.want || err != nil {
			r.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	head, err := r.Head("h", "nobody")
	if err != nil {
		r.Fatal(err)
	}
	if known, err := r.Knows("h", "nobody", head); !known || err != nil {
		r.Errorf("the head of a tenant without messages, %v: %v, %v", head, known, err)
	}
}

func testKeys(r *rig) {
	message := func(tenant, channel, key, payload string) history.Message {
		return history.Message{History: "h", Tenant: tenant, Channel: []byte(channel), Key: []byte(key), Payload: []byte(payload)}
	}
	first := r.append(message("t", "c", "k", "1"))
	if first.Err != nil || first.Repeated {
		r.Fatalf("%+v", first)
	}
	again := r.append(message("t", "c", "k", "2"))
	if again.Err != nil || !again.Repeated || again.Position != first.Position {
		r.Errorf("repeated: %+v, stored %+v", again, first)
	}
	for _, m := range []history.Message{message("t", "c", "other", "3"), message("t", "d", "k", "4"), message("u", "c", "k", "5")} {
		if res := r.append(m); res.Err != nil || res.Repeated {
			r.Errorf("%s %s %s: %+v", m.Tenant, m.Channel, m.Key, res)
		}
	}
	r.put("c", "6") // without a key nothing is a repeat
	r.put("c", "6")
	r.expect(query("#", 0), "c=1 c=3 d=4 c=6 c=6")
	testKeysOfPublishers(r)
	// A key is forgotten with the age of its history.
	r.define("short", limits(func(l *history.Limits) { l.Age = time.Second }))
	m := message("t", "c", "k", "1")
	m.History = "short"
	r.append(m)
	for deadline := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) { // until its age has passed
		if res := r.append(m); res.Err != nil || !res.Repeated {
			break
		}
		if time.Now().After(deadline) {
			r.Fatal("a key of a second is there for good")
		}
	}
}

// A key is its publisher's: another one's message is stored, and not taken for a repeat.
func testKeysOfPublishers(r *rig) {
	for i, by := range []struct{ sender, token string }{{"", "1"}, {"", "2"}, {"ann", "1"}, {"bob", "1"}, {"1", ""}, {"ann", "2"}, {"", "2"}} {
		res := r.append(history.Message{
			History: "h", Tenant: "t", Channel: []byte("by"), Key: []byte("k"), Payload: fmt.Append(nil, i), Sender: []byte(by.sender), TokenID: by.token,
		})
		if res.Err != nil || res.Repeated != (i >= 5) { // ann with another token, and the second token again
			r.Errorf("publisher %d, %+v: %+v", i, by, res)
		}
	}
	r.expect(query("by", 0), "by=0 by=1 by=2 by=3 by=4")
}

// The smallest history has 4,096 keys, and one tenant half of them, or one owner of tenants.
func testKeysBounded(r *rig) {
	for _, owner := range []string{"", "loud."} {
		name := "h" + strings.TrimSuffix(owner, ".")
		r.define(name, limits(func(l *history.Limits) { l.Size = history.MinSize }))
		stored := map[string]int{}
		for _, by := range []string{"loud", "t"} {
			for i := range history.MinSize / 64 {
				m := history.Message{History: name, Tenant: by, Channel: []byte("c"), Key: fmt.Append(nil, i)}
				if by == "loud" && owner != "" {
					m.Tenant, m.Owner = fmt.Sprint(owner, i%16), owner
				}
				res := r.append(m)
				if errors.Is(res.Err, history.ErrKeysFull) {
					break
				}
				if res.Err != nil {
					r.Fatal(res.Err)
				}
				stored[by]++
			}
		}
		if stored["loud"] < 1000 || stored["loud"] > history.MinSize/128 || stored["t"] < 1000 {
			r.Errorf("keys remembered, owner %q: %v", owner, stored)
		}
	}
	r.put("c", "without a key")
}

func testUsage(r *rig) {
	start := time.Now().Add(-time.Second)
	r.put("a", "12345")
	r.put("b", "12345")
	list, err := r.Usage()
	if err != nil || len(list) != 1 {
		r.Fatalf("%+v, %v", list, err)
	}
	u := list[0]
	if u.History != "h" || u.Tenant != "t" || u.Channels != 2 || u.Messages != 2 || u.Bytes < 10 ||
		u.Oldest.Before(start) || u.Oldest.After(time.Now().Add(time.Second)) {
		r.Errorf("%+v", u)
	}
}

func testClose(r *rig) {
	r.put("a", "1")
	if err := r.Close(); err != nil {
		r.Fatal(err)
	}
	if res := r.append(history.Message{History: "h", Tenant: "t", Channel: []byte("a")}); res.Err == nil {
		r.Error("a closed store takes messages")
	}
	if _, err := r.Head("h", "t"); err == nil {
		r.Error("a closed store has a head")
	}
}

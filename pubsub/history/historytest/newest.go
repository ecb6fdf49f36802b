package historytest

import (
	"context"
	"errors"
	"fmt"

	"github.com/millrace/millrace/pubsub/history"
)

func testNewest(r *rig) {
	for i := range 12 {
		r.put(fmt.Sprintf("c.%d", i%4), fmt.Sprint(i))
	}
	q := query("c.*", 0)
	q.Newest, q.MaxChannels = true, 4
	r.expect(q, "c.0=8 c.1=9 c.2=10 c.3=11")
	q.MaxMessages = 1
	r.expect(q, "c.0=8 c.1=9 c.2=10 c.3=11")
	q.Pattern = query("c.2", 0).Pattern
	r.expect(q, "c.2=10")
	q = query("c.*", 0)
	q.Newest, q.MaxChannels, q.MaxMessages = true, 3, 1
	page, err := r.Read(context.Background(), q)
	if !errors.Is(err, history.ErrTooManyChannels) {
		r.Errorf("4 channels fit into 3: %v", err)
	}
	if page.Work == 0 && r.page(query("c.*", 0)).Work > 0 {
		r.Error("nobody pays for a search that finds too many channels")
	}
}

func testBefore(r *rig) {
	for i := range 10 {
		r.put(fmt.Sprintf("c.%d", i%2), fmt.Sprint(i))
	}
	for _, c := range []struct {
		n    int
		want string
	}{{1, "c.1=9"}, {3, "c.1=5 c.1=7 c.1=9"}, {100, "c.1=1 c.1=3 c.1=5 c.1=7 c.1=9"}} {
		after, _, err := r.Before("h", "t", "c.1", c.n)
		if err != nil {
			r.Fatal(err)
		}
		r.expect(query("c.1", after), c.want)
	}
	after, _, err := r.Before("h", "t", "empty", 5)
	if err != nil {
		r.Fatal(err)
	}
	r.expect(query("empty", after), "")
}

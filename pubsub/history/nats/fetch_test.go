package nats

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// Where the stream has another message at a number, as it was lost and this edge does not
// know yet, nobody gets that: it may be of another tenant.
func TestOtherMessageOfTheNumber(t *testing.T) {
	t.Parallel()
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	defer done()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h"))
	at := put(t, s, "h", "other", "c", "secret")
	earlier := at
	earlier.T -= 10_000
	st := s.find("h")
	for name, m := range map[string]struct {
		tenant, channel string
		at              wire.Position
		err             error
	}{
		"it": {"other", "c", at, nil}, "tenant": {"t", "c", at, errGone}, "channel": {"other", "d", at, errGone}, "time": {"other", "c", earlier, errGone},
	} {
		kept := history.Kept{Position: m.at, Channel: m.channel}
		if payload, err := st.fetchOne(ctx, m.tenant, &kept); !errors.Is(err, m.err) || m.err != nil && payload != nil {
			t.Errorf("%s: %q, %v", name, payload, err)
		}
		page := history.Page{Messages: []history.Kept{kept}}
		q := history.Query{Tenant: m.tenant, Pattern: parse(t, "#")}
		if err := st.fetch(ctx, &q, page, []*index.Entry{{}}); !errors.Is(err, m.err) || m.err == nil && string(page.Messages[0].Payload) != "secret" {
			t.Errorf("%s in a page: %q, %v", name, page.Messages[0].Payload, err)
		}
	}
}

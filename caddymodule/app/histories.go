package app

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub/history"
)

// History keeps the messages of some channels.
type History struct {
	// Name of the history: 1 to 32 of a-z, 0-9, _ and -. A history that is given another
	// name begins anew.
	Name string `json:"name"`
	// Tenants whose channels are kept: names, or beginnings of names with `*` behind.
	// Default: every tenant.
	Tenants []string `json:"tenants,omitempty"`
	// Channels that are kept, as patterns, at least one.
	Channels []string `json:"channels"`
	// Messages that are kept of each channel, 1 to 100000. Default, and zero: 100.
	Messages int `json:"messages,omitempty"`
	// Age that a message may have, 1s to 720h. Default, and zero: 1h.
	Age caddy.Duration `json:"age,omitempty"`
	// Size of the whole history in bytes, bookkeeping included, 1 MiB to 1 TiB. Default, and
	// zero: 268435456, 256 MiB.
	Size int64 `json:"size,omitempty"`
	// MaxLag is how late a slow subscriber may get messages, 1s to 720h: one that is
	// further behind is told of a gap, and goes on with the newest. Default, and zero: as
	// late as it is, while the history has them.
	MaxLag caddy.Duration `json:"max_lag,omitempty"`
}

func (h History) definition() history.Definition {
	byDefault := history.DefaultLimits()
	return history.Definition{
		Name: h.Name, Tenants: h.Tenants, Channels: h.Channels, MaxLag: time.Duration(h.MaxLag),
		Limits: history.Limits{
			Messages: cmp.Or(h.Messages, byDefault.Messages),
			Age:      cmp.Or(time.Duration(h.Age), byDefault.Age),
			Size:     cmp.Or(h.Size, byDefault.Size),
		},
	}
}

// unmarshalHistory parses a history block.
func (a *App) unmarshalHistory(d *caddyfile.Dispenser) error {
	var h History
	var err error
	if h.Name, err = args.One(d); err != nil {
		return err
	}
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] {
			return d.Errf("%s is given twice in history %s", option, h.Name)
		}
		seen[option] = true
		switch option {
		case "tenants":
			if h.Tenants = d.RemainingArgs(); len(h.Tenants) == 0 {
				err = d.ArgErr()
			}
		case "channels":
			if h.Channels = d.RemainingArgs(); len(h.Channels) == 0 {
				err = d.Errf("channels: at least one pattern is needed; # alone stands in quotes, since it begins a comment")
			}
		case "messages":
			h.Messages, err = args.Number(d, args.Count)
		case "age":
			h.Age, err = args.Duration(d)
		case "size":
			h.Size, err = args.DiskSize(d)
		case "max_lag":
			h.MaxLag, err = args.Duration(d)
		default:
			err = d.Errf("unknown option %s of history; allowed: tenants, channels, messages, age, size, max_lag", option)
		}
		if err != nil {
			return err
		}
	}
	a.Histories = append(a.Histories, h)
	return nil
}

// errSeveralEdges refuses histories where a broker joins edges.
var errSeveralEdges = errors.New("histories over several edges are not there yet: an edge that keeps histories needs broker memory, and is the only one")

// histories are those of a configuration, and what it holds of their store.
type histories struct {
	set    *history.Set
	module guest.HistoryStoreModule // nil: it has none
	key    historyKey
	leased *sharedHistory // nil: nothing
}

// historyKey identifies a store of histories. Each hub has stores of its own: of two hubs
// with one store, each would hand on what its own clients publish alone.
type historyKey struct {
	edge  edgeKey
	store string
}

type sharedHistory struct{ history.Store }

// Destruct implements [caddy.Destructor].
func (s *sharedHistory) Destruct() error { return s.Close() }

func (a *App) provisionHistories(ctx caddy.Context) (err error) {
	var definitions []history.Definition
	for _, h := range a.Histories {
		definitions = append(definitions, h.definition())
	}
	if a.histories.set, err = history.NewSet(definitions); err != nil {
		return err
	}
	if len(definitions) == 0 && len(a.HistoryStoreRaw) == 0 {
		return nil
	}
	if _, ok := a.broker.(guest.SingleEdge); !ok {
		return errSeveralEdges
	}
	a.histories.module, err = loadGuest[guest.HistoryStoreModule](ctx, a, a.HistoryStoreRaw, "HistoryStoreRaw", "pubsub.history_stores.memory")
	if err != nil {
		return fmt.Errorf("history_store: %w", err)
	}
	return nil
}

// lease takes the store from the pool, where another configuration keeps it, or opens it.
func (h *histories) lease(of edgeKey) error {
	if h.module == nil {
		return nil
	}
	h.key = historyKey{of, h.module.HistoryStoreKey()}
	v, _, err := kept.LoadOrNew(h.key, func() (caddy.Destructor, error) {
		store, err := h.module.OpenHistoryStore(guest.LiveLog("pubsub.history"))
		if err != nil {
			return nil, err
		}
		return &sharedHistory{store}, nil
	})
	if err != nil {
		return fmt.Errorf("history store: %w", err)
	}
	h.leased = v.(*sharedHistory)
	return nil
}

// release gives the store back. The last one to do so closes it.
func (h *histories) release() error {
	if h.leased == nil {
		return nil
	}
	h.leased = nil
	_, err := kept.Delete(h.key)
	return err
}

// store returns the store, or nil.
func (h *histories) store() history.Store {
	if h.leased == nil {
		return nil
	}
	return h.leased.Store
}

// HistoryStore returns the store of histories of the configuration; nil: it has none.
func (r *Running) HistoryStore() history.Store { return r.history }

// HistoryNames returns the names of the histories of the configuration, in its order.
func (r *Running) HistoryNames() (names []string) {
	for _, h := range r.histories.All() {
		names = append(names, h.Name)
	}
	return names
}

package app

import (
	"cmp"
	"fmt"
	"strings"
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
	// name starts over.
	Name string `json:"name"`
	// Version of the definition, 0 to 1073741824. With `history_store nats`, all edges follow the
	// definition of the highest version; one of the same version changes by a reload alone.
	// Default: 0.
	Version int `json:"version,omitempty"`
	// Retired takes the history from all edges that share it; nothing else counts then but
	// the version. What it keeps stays until it is purged. Default: false.
	Retired bool `json:"retired,omitempty"`
	// Tenants whose channels are kept: names, or beginnings of names with `*` behind.
	// Default: every tenant.
	Tenants []string `json:"tenants,omitempty"`
	// Channels that are kept, as patterns, at least one.
	Channels []string `json:"channels,omitempty"`
	// Messages that are kept of each channel, 1 to 100000. Default, and zero: 100.
	Messages int `json:"messages,omitempty"`
	// Age that a message may have, 1s to 720h. Default, and zero: 1h.
	Age caddy.Duration `json:"age,omitempty"`
	// Size of the whole history in bytes, bookkeeping included, 1 MiB to 1 TiB. Default, and
	// zero: 268435456, 256 MiB.
	Size int64 `json:"size,omitempty"`
	// MaxLag is how late a slow subscriber may get messages, 1s to 720h: one that is
	// further behind gets a gap, and goes on with the newest. Default, and zero: as
	// late as it is, while the history has them.
	MaxLag caddy.Duration `json:"max_lag,omitempty"`
}

func (h History) definition() history.Definition {
	byDefault := history.DefaultLimits()
	return history.Definition{
		Name: h.Name, Version: h.Version, Retired: h.Retired, Tenants: h.Tenants, Channels: h.Channels, MaxLag: time.Duration(h.MaxLag),
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
		case "version":
			h.Version, err = args.Number(d, args.Count)
		case "retired":
			if h.Retired = true; d.NextArg() {
				err = d.ArgErr()
			}
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
			err = d.Errf("unknown option %s of history; allowed: version, retired, tenants, channels, messages, age, size, max_lag", option)
		}
		if err != nil {
			return err
		}
	}
	a.Histories = append(a.Histories, h)
	return nil
}

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
	byDefault, shared, err := a.historyStoreFor()
	if err != nil {
		return err
	}
	module, err := loadGuest[guest.HistoryStoreModule](ctx, a, a.HistoryStoreRaw, "HistoryStoreRaw", historyStores+"."+byDefault)
	if err != nil {
		return fmt.Errorf("history_store: %w", err)
	}
	sharer, isShared := module.(guest.SharedHistoryStore)
	switch {
	case shared && !isShared:
		return fmt.Errorf("history_store %s: it is of one edge, and those that broker %s joins must share their histories; allowed: %s",
			driver(module), driver(a.broker), allowedHistoryStores(true))
	case isShared && !shared:
		return fmt.Errorf("history_store %s: edges share it through their broker, and broker %s joins none; allowed: %s",
			driver(module), driver(a.broker), allowedHistoryStores(false))
	case isShared:
		if err := sharer.UseBroker(a.broker); err != nil {
			return fmt.Errorf("history_store %s: %w", driver(module), err)
		}
	}
	a.histories.module = module
	return nil
}

const historyStores = "pubsub.history_stores"

// historyStoreFor says which store of histories the broker has by default, and whether
// edges have to share it.
func (a *App) historyStoreFor() (byDefault string, shared bool, err error) {
	if sharer, ok := a.broker.(guest.HistorySharer); ok {
		return sharer.SharedHistoryStore(), true, nil
	}
	if _, ok := a.broker.(guest.SingleEdge); ok {
		return "memory", false, nil
	}
	return "", false, fmt.Errorf("histories: the edges of broker %s would not agree on what is stored; allowed: broker %s", driver(a.broker),
		driversThat("pubsub.brokers", func(module any) bool {
			_, sharer := module.(guest.HistorySharer)
			_, single := module.(guest.SingleEdge)
			return sharer || single
		}))
}

// allowedHistoryStores names those of this build that edges share, or those of one edge.
func allowedHistoryStores(shared bool) string {
	return driversThat(historyStores, func(module any) bool {
		_, ok := module.(guest.SharedHistoryStore)
		return ok == shared
	})
}

// driversThat names the modules of a namespace that have a property.
func driversThat(namespace string, has func(module any) bool) string {
	var list []string
	for _, module := range caddy.GetModules(namespace) {
		if has(module.New()) {
			list = append(list, module.ID.Name())
		}
	}
	return strings.Join(list, ", ")
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
		return &sharedHistory{Store: store}, nil
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
func (r *Running) HistoryStore() history.Store {
	if r.history == nil {
		return nil
	}
	return r.history.Store
}

// sharedHistory is a store of histories that configurations share.
type sharedHistory struct{ history.Store }

// Destruct implements [caddy.Destructor].
func (s *sharedHistory) Destruct() error { return s.Close() }

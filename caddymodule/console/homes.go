package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

const (
	homesFormat  = 1
	homesTimeout = 10 * time.Second // for reading or writing them
)

// homes keeps in Caddy's storage where names have logged in, so that a restart makes nobody
// a stranger. Each edge has a file of its own, as several may share a storage.
type homes struct {
	file string
	log  *zap.Logger

	running sync.WaitGroup // the goroutine that saves

	mu      sync.Mutex
	kept    *keptHomes
	saving  bool // it runs
	changed bool // since it last looked
}

// keptHomes are those in the storage of a configuration.
type keptHomes struct {
	storage certmagic.Storage
	loaded  bool // the file was read, or is not there; of load and then of the goroutine that saves
}

// storedHomes is the file.
type storedHomes struct {
	Format int          `json:"format"`
	Homes  []storedHome `json:"homes"`
}

type storedHome struct {
	Name    string     `json:"name"`
	Address netip.Addr `json:"address"` // of an IPv6 client the first of its /64
	Used    time.Time  `json:"used"`
}

// newHomes returns those of this edge.
func newHomes(storage certmagic.Storage, log *zap.Logger) *homes {
	file := "pubsub/console/homes.json"
	if id, err := caddy.InstanceID(); err == nil {
		file = fmt.Sprintf("pubsub/console/homes-%s.json", id)
	}
	return &homes{kept: &keptHomes{storage: storage}, file: file, log: log}
}

// use has all that follows use the storage of another configuration: that of one that is gone
// may be closed.
func (h *homes) use(storage certmagic.Storage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = &keptHomes{storage: storage}
}

// load has the logins know what was stored. Without that everybody is a stranger, which is
// logged.
func (h *homes) load(l *logins) {
	if err := h.read(l, h.kept); err != nil {
		h.log.Error("it is not known where operators have logged in before: guesses of others may make them wait once more",
			zap.String("file", h.file), zap.Error(err))
	}
}

// read adds what was stored to what the logins know.
func (h *homes) read(l *logins, kept *keptHomes) error {
	ctx, cancel := context.WithTimeout(context.Background(), homesTimeout)
	defer cancel()
	data, err := kept.storage.Load(ctx, h.file)
	if errors.Is(err, fs.ErrNotExist) {
		kept.loaded = true
		return nil
	}
	var stored storedHomes
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err == nil && stored.Format != homesFormat {
		err = fmt.Errorf("it has format %d; this version reads %d", stored.Format, homesFormat)
	}
	if err != nil {
		return fmt.Errorf("%w; the file stays as it is until it can be read or is gone", err)
	}
	kept.loaded = true
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range stored.Homes {
		key := familiarKey{s.Name, s.Address}
		if legalName(s.Name) && s.Address.IsValid() && l.familiar[key] == nil {
			l.remember(key, s.Used)
		}
	}
	return nil
}

// save stores what the logins know, soon. It does not wait: a storage may be slow.
func (h *homes) save(l *logins) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed = true
	if h.saving {
		return
	}
	h.saving = true
	h.running.Go(func() {
		for h.takeChanged() {
			if err := h.store(l); err != nil {
				h.log.Error("where operators have logged in is not stored: after a restart, guesses of others may make them wait once more",
					zap.String("file", h.file), zap.Error(err))
			}
		}
	})
}

// takeChanged reports whether there is something to save. If not, the goroutine ends.
func (h *homes) takeChanged() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := h.changed
	h.changed, h.saving = false, changed
	return changed
}

// store writes the file, but never over one that could not be read.
func (h *homes) store(l *logins) error {
	h.mu.Lock()
	kept := h.kept
	h.mu.Unlock()
	if !kept.loaded {
		if err := h.read(l, kept); err != nil {
			return err
		}
	}
	data, err := json.Marshal(storedHomes{homesFormat, l.listHomes()})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), homesTimeout)
	defer cancel()
	return kept.storage.Store(ctx, h.file, data)
}

// listHomes returns where names have logged in.
func (l *logins) listHomes() []storedHome {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]storedHome, 0, len(l.familiar))
	for key, h := range l.familiar {
		list = append(list, storedHome{key.name, key.address, h.used.UTC()})
	}
	return list
}

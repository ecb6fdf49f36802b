package takeover

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/quic-go/quic-go"
)

const (
	// resetKeyName is the name of the key for stateless resets in the storage, beside the certificates.
	resetKeyName = "pubsub/stateless_reset.key"
	// resetKeyTimeout is how long the start of a port waits for that key.
	resetKeyTimeout = 10 * time.Second
)

// resetKey returns the key for stateless resets (RFC 9000, section 10.3), and creates it
// if there is none yet. With it, an edge that was killed and is back answers each packet
// of a connection that it does not know: that connection is over. So does another edge
// with the same storage behind the same address.
func resetKey(storage certmagic.Storage) (*quic.StatelessResetKey, error) {
	ctx, cancel := context.WithTimeout(context.Background(), resetKeyTimeout)
	defer cancel()
	key, err := loadResetKey(ctx, storage)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := storage.Lock(ctx, resetKeyName); err != nil {
		return nil, err
	}
	defer func() { _ = storage.Unlock(context.WithoutCancel(ctx), resetKeyName) }() // else it expires
	key, err = loadResetKey(ctx, storage)
	if !errors.Is(err, fs.ErrNotExist) { // another edge was faster
		return key, err
	}
	key = new(quic.StatelessResetKey)
	_, _ = rand.Read(key[:]) // never fails
	if err := storage.Store(ctx, resetKeyName, key[:]); err != nil {
		return nil, err
	}
	return key, nil
}

func loadResetKey(ctx context.Context, storage certmagic.Storage) (*quic.StatelessResetKey, error) {
	data, err := storage.Load(ctx, resetKeyName)
	if err != nil {
		return nil, err
	}
	if len(data) != len(quic.StatelessResetKey{}) {
		return nil, fmt.Errorf("%s in Caddy's storage has %d bytes, and must have %d; if it is deleted, a new one is made",
			resetKeyName, len(data), len(quic.StatelessResetKey{}))
	}
	key := quic.StatelessResetKey(data)
	return &key, nil
}

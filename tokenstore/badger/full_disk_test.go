package badger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// fullDirEnv turns the test binary into a process that writes to the store in the
// directory that it names, and says what came of it: "ack <id> <version>" for a
// write, "refused" for one that found no room, after which a read has worked, and
// "have <id> <version>" for each record when its input ends.
const fullDirEnv = "TOKENSTORE_FULL_DIR"

const fullReserve = DefaultReserve

func writeToFullDisk(dir string) error {
	store, err := Open(Config{Dir: dir, Reserve: fullReserve})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with the input
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var wg sync.WaitGroup
	failed := make(chan error, killWriters)
	for range killWriters {
		wg.Go(func() {
			if err := writeWhileThereIsRoom(ctx, store); err != nil && !errors.Is(err, context.Canceled) {
				failed <- err
				cancel()
			}
		})
	}
	wg.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return err
	}
	err = store.Scan(context.Background(), tokenstore.KindAccess, "", func(rec tokenstore.Record) bool {
		fmt.Println("have", rec.ID, rec.Version)
		return true
	})
	return errors.Join(err, store.Close())
}

func writeWhileThereIsRoom(ctx context.Context, store *Store) error {
	rec := tokenstore.Record{Kind: tokenstore.KindAccess, Value: make([]byte, 2<<10)}
	for ctx.Err() == nil {
		rec.ID = rand.Text()
		version, err := store.Create(ctx, rec)
		switch {
		case err == nil:
			fmt.Println("ack", rec.ID, version)
			// The store stays small: half of what is written is deleted again.
			if version%2 == 0 {
				continue
			}
			if err := store.Delete(ctx, rec.Kind, rec.ID, version); err == nil {
				fmt.Println("deleted", rec.ID)
			} else if !errors.Is(err, tokenstore.ErrInsufficientStorage) {
				return err
			}
		case errors.Is(err, tokenstore.ErrInsufficientStorage):
			if _, err := store.Get(ctx, rec.Kind, rec.ID); !errors.Is(err, tokenstore.ErrNotFound) {
				return fmt.Errorf("a read while the disk is full: %w", err)
			}
			fmt.Println("refused")
			time.Sleep(10 * time.Millisecond) // of a client that tries again
		default:
			return err
		}
	}
	return ctx.Err()
}

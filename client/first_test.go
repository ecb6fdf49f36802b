package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
)

// The context ends while the provider may not be asked again yet: its last error is what helps.
func TestProviderThatFailsIsNamedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edge := edgetest.New(t)
		for _, limit := range []time.Duration{300 * time.Millisecond, 3 * time.Second} {
			b := blunderer{t, edge, make(chan string, 10)}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			o := b.options(func(o *client.Options) { o.Token, o.FailFast = "", false })
			o.TokenProvider = func(context.Context) (client.AccessToken, error) {
				return client.AccessToken{}, errors.New("the database is away")
			}
			_, err := client.Connect(ctx, []string{edge.URL()}, o)
			cancel()
			wantWords(t, err, "no token came in time", "the database is away")
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrTimeout) {
				t.Errorf("got %v", err)
			}
			if said := b.next().Error(); strings.Contains(said, "no edge can be reached") {
				t.Errorf("said %s", said)
			}
		}
	})
}

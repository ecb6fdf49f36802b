package dial

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"

	"github.com/millrace/millrace/internal/testcheck"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// named makes a name of addresses, which are in words.
func named(t *testing.T, addresses string) {
	before := lookup
	t.Cleanup(func() { lookup = before })
	lookup = func(context.Context, string) (list []netip.Addr, err error) {
		for word := range strings.FieldsSeq(addresses) {
			list = append(list, netip.MustParseAddr(word))
		}
		return list, nil
	}
}

// Each address is silent, refuses, or answers after a time.
func TestAddresses(t *testing.T) {
	for _, row := range []struct {
		addresses string
		answers   map[string]time.Duration // negative: refuses; missing: silent
		tried     string
		want      string
		after     time.Duration
	}{
		{"1.1.1.1 2.2.2.2 ::3 ::4", map[string]time.Duration{"::4": 0}, "1.1.1.1 ::3 2.2.2.2 ::4", "::4", 750 * time.Millisecond},
		{"::3 1.1.1.1", map[string]time.Duration{"::3": -1, "1.1.1.1": 10}, "::3 1.1.1.1", "1.1.1.1", 10},
		{"::3 1.1.1.1", map[string]time.Duration{"::3": time.Second, "1.1.1.1": time.Second}, "::3 1.1.1.1", "::3", time.Second},
		{"::3 1.1.1.1", map[string]time.Duration{"::3": 249 * time.Millisecond, "1.1.1.1": 0}, "::3", "::3", 249 * time.Millisecond},
		{"::3 1.1.1.1", map[string]time.Duration{"::3": -1, "1.1.1.1": -1}, "::3 1.1.1.1", "refused ::3", 0},
		{"::3 1.1.1.1", nil, "::3 1.1.1.1", "context deadline exceeded", 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			named(t, row.addresses)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			var mu sync.Mutex // of the next one
			var tried, discarded []string
			begin := time.Now()
			got, err := connect(ctx, "edge.test:443", lookup, func(ctx context.Context, to string) (string, error) {
				host, _, err := net.SplitHostPort(to)
				testcheck.NoError(t, err)
				mu.Lock()
				tried = append(tried, host)
				mu.Unlock()
				after, answers := row.answers[host]
				switch {
				case after < 0:
					return "", errors.New("refused " + host)
				case answers:
					time.Sleep(after) // also an attempt that is too late comes to its end
					return host, nil
				}
				<-ctx.Done()
				return "", ctx.Err()
			}, func(c string) { discarded = append(discarded, c) })
			if err != nil {
				got = err.Error()
			}
			took := time.Since(begin)
			if row.want == "::3" && row.after == time.Second { // the other one answers later, and is closed
				took -= attemptDelay
				if !slices.Equal(discarded, []string{"1.1.1.1"}) {
					t.Errorf("discarded %q", discarded)
				}
			}
			if got != row.want || took != row.after || strings.Join(tried, " ") != row.tried {
				t.Errorf("%s: got %q after %v, tried %q; want %+v", row.addresses, got, took, tried, row)
			}
		})
	}
}

// One address of a name is silent, and the other one has the server.
func TestQUIC(t *testing.T) {
	own := httptest.NewTLSServer(nil) // has a certificate
	defer own.Close()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	testcheck.Must(t, err)
	defer socket.Close()
	server := &quic.Transport{Conn: socket}
	defer server.Close()
	_, err = server.Listen(&tls.Config{Certificates: own.TLS.Certificates, NextProtos: []string{"x"}}, nil)
	testcheck.Must(t, err)
	port := socket.LocalAddr().(*net.UDPAddr).Port
	silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2), Port: port})
	testcheck.Must(t, err)
	defer silent.Close()
	named(t, "127.0.0.2 127.0.0.1")
	conn, err := QUIC(t.Context(), fmt.Sprintf("edge.test:%d", port),
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"x"}}, &quic.Config{InitialPacketSize: InitialPacketSize})
	testcheck.Must(t, err)
	if err := context.Cause(conn.Context()); err != nil {
		t.Error(err) // it does not end with the attempts
	}
	_ = conn.CloseWithError(0, "")
	buf := make([]byte, 2000)
	if n, _, err := silent.ReadFrom(buf); n != InitialPacketSize || err != nil {
		t.Errorf("the first packet has %d bytes; %v", n, err)
	}
}

package tokenstore_test

import (
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is where a test's clock starts.
var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// A testbed is a service on a store in memory with a clock of its own.
type testbed struct {
	*tokenstore.Service
	store tokenstore.Store

	mu  sync.Mutex
	now time.Time
}

func (b *testbed) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *testbed) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func newTestbed(t testing.TB, cfg tokenstore.Config) *testbed {
	t.Helper()
	return newTestbedOn(t, storetest.NewMemory(), cfg)
}

func newTestbedOn(t testing.TB, store tokenstore.Store, cfg tokenstore.Config) *testbed {
	t.Helper()
	b := &testbed{store: store, now: noon}
	cfg.Now = b.clock
	var err error
	b.Service, err = tokenstore.NewService(store, cfg)
	must(t, err)
	return b
}

// grantAll is a right on everything in the tenants, for an hour from noon.
func grantAll(tenants ...string) tokenstore.Right {
	return tokenstore.Right{
		TenantGrants: []tokenstore.TenantGrant{{
			TenantIDs: tenants, AllowChannelsPub: []string{"#"}, AllowChannelsSub: []string{"#"},
		}},
		ExpiresAt: at(time.Hour),
	}
}

// at is the time d after noon in the form of a request.
func at(d time.Duration) string { return noon.Add(d).Format(time.RFC3339Nano) }

func (b *testbed) issue(t testing.TB, m *tokenstore.Master, right tokenstore.Right) tokenstore.Issued {
	t.Helper()
	issued, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{CreatedBy: "test", Right: right})
	must(t, err)
	return issued
}

// access issues a token with this right and authenticates with it.
func (b *testbed) access(t *testing.T, right tokenstore.Right) *tokenstore.Access {
	t.Helper()
	a, err := b.Authenticate(t.Context(), b.issue(t, b.Overlay(), right).Token)
	must(t, err)
	return a
}

// master creates a master with this prefix and authenticates with it.
func (b *testbed) master(t *testing.T, prefix string) (m *tokenstore.Master, token string) {
	t.Helper()
	_, token, err := b.CreateMaster(t.Context(), tokenstore.MasterSpec{Name: "test", TenantPrefix: prefix})
	must(t, err)
	m, err = b.AuthenticateMaster(t.Context(), token, netip.Addr{})
	must(t, err)
	return m, token
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// wantInvalid checks the place and code of a refusal, and that it does not
// quote any of the values.
func wantInvalid(t *testing.T, got error, path, code string, values ...string) {
	t.Helper()
	var invalid *tokenstore.InvalidError
	if !errors.As(got, &invalid) {
		t.Errorf("error %v, want an InvalidError at %s", got, path)
		return
	}
	if invalid.Path != path || invalid.Code != code {
		t.Errorf("refused %s with %s, want %s with %s", invalid.Path, invalid.Code, path, code)
	}
	if invalid.Reason == "" {
		t.Errorf("%s: no reason", path)
	}
	for _, v := range values {
		if v != "" && strings.Contains(invalid.Error(), v) {
			t.Errorf("%q quotes the request's value %q", invalid, v)
		}
	}
}

var must, noError = testcheck.Must, testcheck.NoError

// equal compares what a test has got with what it wants.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

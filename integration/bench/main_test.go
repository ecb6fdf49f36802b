package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
	"github.com/millrace/millrace/internal/programs"
)

// The test program is also what it starts: see self.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
		return
	}
	// Each process that is built with -race would sleep a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// TestPeers runs every scenario against every server that is not Millrace:
// nothing is lost, and nothing comes twice.
func TestPeers(t *testing.T) {
	l, err := newLauncher(-1, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	for _, server := range []string{floorQueue, floorEqual, floorEach, natsServer, mochiMQTT, socketIO} {
		for transport, secure := range map[string]bool{overPlain: false, overTLS: true} {
			if secure && server == socketIO {
				continue // is measured without
			}
			t.Run(server+"/"+transport, func(t *testing.T) {
				t.Parallel()
				process, to, err := startServer(t.Context(), l, server, secure)
				if err != nil {
					t.Fatal(err)
				}
				defer process.stop()
				for _, scenario := range loadgen.Scenarios() {
					o := loadgen.Defaults(scenario)
					o.Subscribers, o.Rooms, o.Members, o.MemberRate, o.Connections = 20, 3, 4, 20, 30
					o.Duration, o.Warmup, o.Settle, o.PID = 300*time.Millisecond, 50*time.Millisecond, 0, process.pid()
					got, err := loadgen.Run(t.Context(), to.driver(), o)
					if err != nil {
						t.Fatalf("%s: %v", scenario, err)
					}
					if scenario != loadgen.Idle && got.Delivered == 0 {
						t.Errorf("%s: nothing was delivered", scenario)
					}
				}
			})
		}
	}
}

// TestTable measures everything once, small, and looks whether every figure is
// there. How good they are says nothing here.
func TestTable(t *testing.T) {
	file, profiles := filepath.Join(t.TempDir(), "bench.json"), t.TempDir()
	o := options{Servers: []string{floorQueue, natsServer, natsPair, millrace, millraceNATS, millraceHop, millraceOther, millraceKept, millraceDisk}, Groups: groups, JSON: file, Profile: profiles}
	if built := os.Getenv(programs.Folder); built != "" {
		o.program = filepath.Join(built, "millrace")
	}
	var out bytes.Buffer
	if err := table(t.Context(), o, smallScale, &out, &logged{t: t}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())

	var got report
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, m := range measures(smallScale) {
		for _, server := range m.servers {
			if slices.Contains(o.Servers, server) {
				want++
			}
		}
	}
	if len(got.Runs) != want {
		t.Errorf("%d runs, want %d", len(got.Runs), want)
	}
	for _, r := range got.Runs {
		if r.Void != "" {
			t.Errorf("%s of %s is void: %s", r.Measure, r.Server, r.Void)
		}
	}
	for _, f := range got.Fairness {
		if len(f.Void) > 0 || len(f.Disturbed) != smallScale.Rounds {
			t.Errorf("%s: %d rounds; void %q", f.Name, len(f.Disturbed), f.Void)
		}
	}
	if len(got.Fairness) != 16 {
		t.Errorf("%d rows of fairness, want 16", len(got.Fairness))
	}
	for _, c := range got.Caps {
		if c.Error != "" {
			t.Error(c)
		}
	}
	if len(got.Caps) != 8*len(smallScale.CapSizes) {
		t.Errorf("%d caps, want 8 for each of %v", len(got.Caps), smallScale.CapSizes)
	}
	if len(got.Subscriptions) != 2 {
		t.Errorf("%d rows of subscriptions, want 2", len(got.Subscriptions))
	}
	for _, row := range got.Subscriptions {
		if len(row.Void) > 0 || len(row.Seconds) != smallScale.Rounds {
			t.Error(&row)
		}
	}
	for _, server := range o.Servers {
		if !strings.Contains(out.String(), "\n| "+rowNames[server]+" | ") {
			t.Errorf("the table has no row %s", rowNames[server])
		}
	}
	for _, c := range columns {
		if !strings.Contains(out.String(), "| "+c.title+" |") {
			t.Errorf("the table has no column %s", c.title)
		}
	}
	for _, kind := range []string{"cpu", "allocs"} {
		for _, transport := range []string{overPlain, overTLS, overWebTransport} {
			info, err := os.Stat(filepath.Join(profiles, kind+"-"+transport+"-w128.pprof"))
			if err != nil || info.Size() == 0 {
				t.Errorf("%s profile of %s: %v", kind, transport, err)
			}
		}
	}
}

var smallScale = scale{
	Rounds: 1, Duration: 400 * time.Millisecond, Warmup: 50 * time.Millisecond, Settle: 50 * time.Millisecond,
	CapTime: time.Second, CapWarmup: 200 * time.Millisecond, CapSizes: []int{256, 512},
	// So many that no machine, at 20 million deliveries/s, reaches the cap of a connection, which
	// voids a run.
	Subscribers: 250, Rooms: 3, Connections: 20, Crowd: 50, Attackers: 50,
	SubscriptionConnections: 10, SubscriptionsEach: 5,
}

// logged is a writer to the test's log, for as long as the test runs.
type logged struct {
	t  *testing.T
	mu sync.Mutex
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t.Log(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

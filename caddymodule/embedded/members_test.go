package embedded

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/loopback"
)

// fleet is the servers of a cluster, some of which run.
type fleet struct {
	t       *testing.T
	listen  []string
	dirs    []string
	servers []*running // nil: it does not run
}

func newFleet(t *testing.T, size int) *fleet {
	t.Helper()
	f := &fleet{t: t, servers: make([]*running, size)}
	for range size {
		f.listen = append(f.listen, "127.0.0.1:"+strconv.Itoa(loopback.FreePort(t)))
		f.dirs = append(f.dirs, t.TempDir())
	}
	return f
}

// start starts servers, edge-1 being the first, that are configured for a cluster of so many.
func (f *fleet) start(size int, numbers ...int) {
	f.t.Helper()
	for _, n := range numbers {
		c := &Cluster{Name: "edges", Listen: f.listen[n-1]}
		for _, other := range f.listen[:size] {
			c.Routes = append(c.Routes, "nats://"+other)
		}
		f.servers[n-1] = serve(f.t, &Server{Name: f.name(n), Dir: f.dirs[n-1], Cluster: c})
	}
}

func (f *fleet) stop(numbers ...int) {
	f.t.Helper()
	for _, n := range numbers {
		noError(f.t, f.servers[n-1].Destruct())
		f.servers[n-1] = nil
	}
}

func (f *fleet) name(n int) string { return fmt.Sprintf("edge-%d", n) }

// states waits until a server sees the members as wanted: "edge-1 edge-2 edge-4:offline".
func (f *fleet) states(by int, want string) guest.Quorum {
	f.t.Helper()
	var q guest.Quorum
	await(f.t, "members "+want, func() bool {
		q, _ = f.servers[by-1].members.quorum()
		var list []string
		for _, m := range q.Members {
			if m.State == guest.MemberOffline {
				m.Name += ":offline"
			}
			list = append(list, m.Name)
		}
		return strings.Join(list, " ") == want && q.Up() && !slices.ContainsFunc(q.Members, func(m guest.Member) bool { return m.State == guest.MemberLagging })
	})
	return q
}

// remove removes a member by another one, in as many calls as that takes.
func (f *fleet) remove(by, n int, how guest.RemoveOptions) guest.Removal {
	f.t.Helper()
	var got guest.Removal
	await(f.t, "the removal of "+f.name(n), func() (done bool) {
		var err error
		got, err = f.servers[by-1].members.remove(f.t.Context(), f.name(n), how)
		must(f.t, err)
		return got.Done()
	})
	return got
}

// refused checks that a member is not removed.
func (f *fleet) refused(by int, name string, how guest.RemoveOptions, code, text string) {
	f.t.Helper()
	var refusal *guest.MemberError
	_, err := f.servers[by-1].members.remove(f.t.Context(), name, how)
	if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(err.Error(), text) {
		f.t.Errorf("removing %s: %v, want %s, %s", name, err, code, text)
	}
}

// A server that was there once counts, and one more loss would stop the cluster: that is seen.
// Without it, the cluster goes on.
func TestRemoveStopped(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 4)
	f.start(3, 1, 2, 3)
	kv := bucketOf(t, f.servers[1], 3)
	put(t, kv, 10)
	f.start(4, 4)
	if q := f.states(1, "edge-1 edge-2 edge-3 edge-4"); q.Spare() != 1 || q.Needed != 3 {
		t.Errorf("four members: %+v", q)
	}
	f.refused(1, "edge-4", guest.RemoveOptions{}, guest.MemberRuns, "Stop its edge first")
	f.refused(1, "edge-5", guest.RemoveOptions{}, guest.UnknownMember, "edge-1, edge-2, edge-3, edge-4")
	f.refused(1, "edge-1", guest.RemoveOptions{Running: true}, guest.MemberRuns, "ask another")
	f.stop(4)
	if q := f.states(2, "edge-1 edge-2 edge-3 edge-4:offline"); q.Spare() != 0 || q.Running != 3 {
		t.Errorf("with one of four away: %+v", q)
	}
	f.refused(1, "edge-2", guest.RemoveOptions{Running: true}, guest.NoQuorum, "edge-4")
	for range 2 { // the second time it is so already
		if got := f.remove(2, 4, guest.RemoveOptions{}); !got.Removed || len(got.Short) > 0 {
			t.Errorf("removed: %+v", got)
		}
	}
	if q := f.states(3, "edge-1 edge-2 edge-3"); q.Spare() != 1 || q.Needed != 2 {
		t.Errorf("after the removal: %+v", q)
	}
	f.stop(1)
	put(t, kv, 10)
	// It may come back: it is a member again 5 minutes after its removal, and serves before.
	f.start(4, 4)
	put(t, bucketOf(t, f.servers[3], 3), 10)
	f.states(2, "edge-1:offline edge-2 edge-3")
}

// The vote of a server with an empty folder does not count, unless all servers run. So the first
// start needs all of them, and one more that is away would keep a new one in place of another out.
func TestEmptyFolders(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 5)
	f.start(3, 1, 2)
	await(t, "a look without a leader", func() bool { q, known := f.servers[0].members.quorum(); return known && !q.Up() && q.Needed == 2 })
	f.start(3, 3)
	f.states(1, "edge-1 edge-2 edge-3")
	kv := bucketOf(t, f.servers[1], 3)
	put(t, kv, 10)
	f.start(4, 4)
	f.states(1, "edge-1 edge-2 edge-3 edge-4")
	f.stop(4)
	f.remove(2, 4, guest.RemoveOptions{})

	f.stop(1)
	f.dirs[0] = t.TempDir()
	f.start(3, 1)
	f.states(2, "edge-1 edge-2 edge-3")
	await(t, "the replica of the new server", func() bool { return f.servers[0].JetStreamIsStreamCurrent("$G", "KV_b") })

	f.stop(3)
	f.remove(2, 3, guest.RemoveOptions{})
	f.start(5, 5) // in its place
	f.states(2, "edge-1 edge-2 edge-5")
	await(t, "the replica in place of another", func() bool { return f.holds(5) })
	put(t, kv, 10)
}

// What only a member has that is away is given up with Lost alone.
func TestRemoveLost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 4)
	f.start(4, 1, 2, 3, 4)
	kv := bucketOf(t, f.servers[0], 1)
	put(t, kv, 10)
	f.states(1, "edge-1 edge-2 edge-3 edge-4")
	must(t, f.servers[0].members.request(t.Context(), "$JS.API.SERVER.EVACUATE", map[string]string{"peer_id": idOf("edge-1")}))
	holder := 0
	await(t, "the bucket to be elsewhere", func() bool {
		for n := 2; n <= 4; n++ {
			if f.holds(n) && !f.holds(1) {
				holder = n
			}
		}
		return holder > 0
	})
	f.stop(holder)
	f.refused(1, f.name(holder), guest.RemoveOptions{}, guest.NoQuorum, "--lost")
	f.remove(1, holder, guest.RemoveOptions{Lost: true})
	put(t, kv, 10)
}

// Three, five, and three again, while values are written: none is lost, and each has its replicas.
func TestGrowAndShrink(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 5)
	f.start(3, 1, 2, 3)
	kv := bucketOf(t, f.servers[0], 3)
	f.states(1, "edge-1 edge-2 edge-3")
	f.start(5, 4, 5)
	f.states(1, "edge-1 edge-2 edge-3 edge-4 edge-5")
	put(t, kv, 10)
	// The replicas are where they will have to move from: NATS draws the members that get them.
	m := f.servers[0].members
	await(t, "replicas to move", func() bool {
		_, streams := m.look(t.Context())
		gone := true
		for _, n := range []int{2, 3} {
			moved, err := m.evacuate(t.Context(), idOf(f.name(n)), streams)
			must(t, err)
			gone = gone && moved
		}
		return gone && f.holds(4) && f.holds(5)
	})
	for range 2 { // the second time there is nothing to do
		if got := f.shrink(3); got != "The members of the cluster are edge-1, edge-2, edge-3." {
			t.Errorf("told at the end: %s", got)
		}
		put(t, kv, 10)
	}
	await(t, "a replica with everything at each member", func() bool {
		q := f.states(1, "edge-1 edge-2 edge-3")
		return !slices.ContainsFunc(q.Members, func(m guest.Member) bool { return m.Replicas != 1 || m.Lagging != 0 })
	})
	// Those that were removed while they run do not come back before a restart.
	if storing, known := f.servers[4].storage.storing(); !known || storing {
		t.Errorf("storing of one that was removed: %v, %v", storing, known)
	}
	f.stop(4, 5)
	f.stop(2)
	put(t, kv, 10)
	var keys []string
	await(t, "the keys, by whoever leads the members now", func() bool {
		var err error
		keys, err = kv.Keys(t.Context())
		return err == nil
	})
	if len(keys) != 10 {
		t.Errorf("got %v", keys)
	}
}

// shrink lets another server leave so many members, and returns what it tells last.
func (f *fleet) shrink(size int) (last string) {
	f.t.Helper()
	s := &Server{Name: "shrink", Cluster: &Cluster{
		Name: "edges", Listen: "127.0.0.1:" + strconv.Itoa(loopback.FreePort(f.t)), Routes: []string{"nats://" + f.listen[0]},
	}}
	must(f.t, s.Shrink(f.t.Context(), "edge-", size+1, func(text string) { last = text }))
	return last
}

// Before there is a cluster there is nothing to shrink, and a server that is silent is an error.
func TestShrinkWithoutCluster(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]string{
		"nats://127.0.0.1:" + strconv.Itoa(loopback.FreePort(t)): "",
		"nats://edges.invalid:6222":                              "",
		"nats://127.0.0.1":                                       "must be nats://host:port",
	} {
		told := ""
		err := (&Server{Cluster: &Cluster{Routes: []string{route}}}).Shrink(t.Context(), "edge-", 3, func(text string) { told = text })
		if want == "" && (err != nil || !strings.Contains(told, "nothing is removed")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, told %q", route, err, told)
		}
	}
}

// holds reports whether a member has a replica, as the first one knows.
func (f *fleet) holds(n int) bool {
	q, _ := f.servers[0].members.quorum()
	return slices.ContainsFunc(q.Members, func(m guest.Member) bool { return m.Name == f.name(n) && m.Replicas > 0 && m.Lagging == 0 })
}

// What others say of the members counts only while nobody knows of a leader: they do not list themselves.
func TestViewOf(t *testing.T) {
	t.Parallel()
	of := func(name, leader string, others ...string) report {
		r := report{Server: server.ServerInfo{Name: name}, Data: server.JSInfo{Meta: &server.MetaClusterInfo{Leader: leader}}}
		for _, other := range others {
			r.Data.Meta.Replicas = append(r.Data.Meta.Replicas, &server.PeerInfo{Name: other, Peer: idOf(other)})
		}
		return r
	}
	off := report{Server: server.ServerInfo{Name: "off"}}
	led, follows, free := of("a", "a", "b", "c"), of("b", "a", "a", "c"), of("b", "", "a", "b", "c")
	for name, c := range map[string]struct {
		reports []report
		alone   bool
		want    int // members in the view beside the leader; -1: unclear
	}{
		"the leader":            {[]report{off, follows, led}, false, 2},
		"a leader is silent":    {[]report{follows, off}, false, -1},
		"one has not heard yet": {[]report{free, follows}, false, -1},
		"no leader":             {[]report{off, free}, false, 3},
		"asked alone":           {[]report{follows}, true, 3},
		"nobody":                {[]report{off}, false, 0},
	} {
		view, unclear := viewOf(c.reports, c.alone)
		got := 0
		switch {
		case unclear:
			got = -1
		case view != nil:
			got = len(view.Replicas)
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

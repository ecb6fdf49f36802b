package nats

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

func ms(t time.Time) uint64 { return uint64(max(t.UnixMilli(), 0)) }

// positionOf is the position of a place. Times of positions ascend, also where the clock of
// another server is slow. The caller holds st.mu.
func (st *stream) positionOf(p place) wire.Position {
	return wire.Position{Epoch: st.epoch, N: p.n, T: max(ms(p.time), st.head.T)}
}

// receive takes a message of the stream, and hands it on.
func (st *stream) receive(m *received) {
	follower := st.store.joined()
	st.mu.Lock()
	jumped := wire.Position{}
	if m.n > st.last.n+1 { // messages that came between were removed, of any tenant
		jumped = wire.Position{Epoch: st.epoch, N: m.n - 1, T: max(st.head.T, 1)}
		st.index.RaiseFloors(jumped, wire.GapBehind)
	}
	kept := st.take(m, false)
	at := st.positionOf(m.place)
	st.mu.Unlock()
	if follower != nil && jumped.N > 0 {
		follower.Skipped(st.name, jumped)
	}
	if follower != nil && kept != nil {
		follower.Received(st.name, kept.tenant, kept.Kept)
	}
	st.mu.Lock()
	st.head = at
	if st.waiting > 0 {
		st.wake()
	}
	st.mu.Unlock()
	st.stored.reach(st, at.N)
}

// keptMessage is a message of a tenant.
type keptMessage struct {
	tenant string
	history.Kept
}

// take puts a message into the index, or does what a note says. loading: it may have been
// done long ago. It returns nil for a note. The caller holds st.mu.
func (st *stream) take(m *received, loading bool) *keptMessage {
	at := st.positionOf(m.place)
	st.last = m.place
	rest := strings.TrimPrefix(m.subject, st.store.names.subjects(st.name))
	subject, isMessage := strings.CutPrefix(rest, messageToken)
	if !isMessage {
		st.takeNote(m, rest, at, loading || m.n <= st.loaded)
		return nil
	}
	tenant, channel, ok := natssubject.SplitChannel([]byte(subject))
	if !ok || !isName(tenant, channel) || m.invalid {
		return nil // nothing that an edge has stored
	}
	now := time.Now()
	st.index.Expire(now, expireEach)
	kept := &keptMessage{string(tenant), history.Kept{Position: at, Channel: string(channel), Payload: m.payload, Sender: m.sender, Mark: m.mark}}
	e := st.index.Add(m.owner, kept.tenant, channel, at, m.sender, nil, st.sizeOf(m, kept.tenant, channel))
	if !e.Removed() && !loading {
		st.cache.add(e, m.payload)
	} else if m.size == 0 && !e.Removed() {
		e.Payload = []byte{}
	}
	st.times.add(at, st.index.Len())
	if m.key != "" {
		st.remember(kept.tenant, m, at)
	}
	return kept
}

func isName(tenant, channel []byte) bool {
	return wire.CheckTenant(tenant) == nil && wire.CheckChannel(channel) == nil
}

// expireEach is how many messages that are too old a message removes that is added: more than
// one, so that they do not pile up.
const expireEach = 64

// What a message takes in the file of a stream beside its subject, header and payload, at
// most.
const storedOverhead = 48

// sizeOf is what a message counts for in the index, beside what that adds for each: as much
// as it takes in the stream and, where its channel has all messages that it may, those that
// the stream keeps longer. The caller holds st.mu.
func (st *stream) sizeOf(m *received, tenant string, channel []byte) int {
	stored := m.size + len(m.subject) + len(m.key) + storedOverhead
	if len(m.sender) > 0 {
		stored += senderOverhead + len(m.sender)
	}
	if m.owner != "" {
		stored += ownerOverhead + len(m.owner)
	}
	if m.mark != 0 {
		stored += markOverhead
	}
	if n := st.record.Messages; st.index.Kept(tenant, channel) >= n {
		stored = stored * (n + slack(n)) / n
	}
	return max(m.size, stored-index.EntryOverhead-len(m.sender))
}

// remember remembers the key of a message. The caller holds st.mu.
func (st *stream) remember(tenant string, m *received, at wire.Position) {
	var hash index.KeyHash
	if n, err := hex.Decode(hash[:], []byte(m.key)); err != nil || n != len(hash) || len(m.key) != 2*len(hash) {
		return
	}
	st.index.Remember(tenant, hash, at, m.time)
}

// takeNote does what a note says. Of one that was loaded, or came while others were, it is not
// known what it has removed, so all of the tenant before it counts as that. The caller holds
// st.mu.
func (st *stream) takeNote(m *received, rest string, at wire.Position, loading bool) {
	number := m.trim
	if number == "" {
		number = string(m.payload)
	}
	if n, is := parseTrim(rest, number); is {
		st.takeTrim(n, at, loading)
		return
	}
	var tenant, channel string
	why := wire.GapUnknown
	switch {
	case strings.HasPrefix(rest, purgeToken):
		why = wire.GapPurged
		tenant, channel = splitNote(rest[len(purgeToken):])
		st.purgeIndex(tenant, channel, string(m.payload))
	case !strings.HasPrefix(rest, floorToken): // a mark
		return
	}
	switch {
	case !loading:
	case tenant == "":
		st.index.RaiseFloors(at, why)
	default:
		st.index.Skip(tenant, at, why)
	}
}

// splitNote reads what a note is about: a tenant, or one of its channels; neither: all.
func splitNote(about string) (tenant, channel string) {
	if t, of := strings.CutSuffix(about, tenantEnd); of {
		return natssubject.TenantFromToken(t), ""
	}
	if t, c, ok := natssubject.SplitChannel([]byte(about)); ok {
		return string(t), string(c)
	}
	return "", ""
}

// purgeIndex removes what is purged from the index, in steps between which others have the
// lock, and tells the call of this id, if it is one of this edge. The caller holds st.mu.
func (st *stream) purgeIndex(tenant, channel, id string) {
	var numbers []uint64
	waiting := st.purges[id]
	if waiting != nil {
		numbers = st.index.Numbers(tenant, channel, maxErased)
	}
	purge := index.NewPurge(st.index, tenant, channel)
	for !purge.Step() {
		st.mu.Unlock()
		st.mu.Lock()
	}
	if waiting != nil {
		delete(st.purges, id)
		waiting <- purged{purge.Removed, numbers} // has room
	}
}

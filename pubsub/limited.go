package pubsub

import (
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/wire"
)

// direction is that of the messages that wait for a cap.
type direction uint8

const (
	ingress direction = iota // what the client publishes
	egress                   // what it receives
	directions
)

func (d direction) String() string { return [...]string{"ingress", "egress"}[d] }

// limitation is when messages of a session waited for a cap last, and for how long, as it was told.
type limitation struct{ at, waited time.Duration } // at on the hub's clock; 0: never

// Caps that messages wait for, as the log names them.
const (
	capConnection = "connection"
	capToken      = "token"
	capTenant     = "tenant"
)

// noteLimited tells the client and operators, once a minute at most, that its messages have waited for a
// cap. tenant is theirs; empty: it is not known. The caller holds s.mu.
func (s *Session) noteLimited(d direction, which, tenant string, waited time.Duration) {
	if !s.limitationDue(d) {
		return
	}
	s.limited[d] = limitation{s.hub.now(), waited}
	if code := [...]wire.Code{wire.CodeIngressLimited, wire.CodeEgressLimited}[d]; d == egress || s.tellsReasons.Load() {
		s.rejectLocked(code, strconv.Itoa(int(waited/time.Second)))
	}
	if ok, omitted := s.hub.limitedLines.take(s.hub.now(), limitedKey{s.identity.TokenID, d}, s.token.issuerName); ok {
		if tenant == "" && len(s.identity.Tenants) > 0 {
			tenant = s.identity.Tenants[0]
		}
		// Not here: a log may wait for a disk. The session's reader or writer holds the group open.
		s.hub.Go(func() { s.logLimited(d, which, tenant, waited, omitted) })
	}
}

// limitationDue reports whether it was not noted in the last minute.
func (s *Session) limitationDue(d direction) bool {
	return s.limited[d].at == 0 || s.hub.now()-s.limited[d].at >= limitedEvery
}

func (s *Session) logLimited(d direction, which, tenant string, waited time.Duration, omitted uint64) {
	l := s.hub.limits.Load()
	own, byDefault := s.identity.EgressKB, l.DefaultEgressKB
	token, ofTenant := l.TokenEgressKB, l.TenantEgressKB
	if d == ingress {
		own, byDefault, token, ofTenant = s.identity.IngressKB, l.DefaultIngressKB, l.TokenIngressKB, l.TenantIngressKB
	}
	rate := map[string]int{capConnection: int(s.rate(own, byDefault) / 1024), capToken: token, capTenant: ofTenant}[which]
	fields := []zap.Field{
		zap.String("token_id", s.identity.TokenID), zap.String("subject", s.identity.Subject), zap.String("tenant", tenant),
		zap.String("direction", d.String()), zap.String("cap", which), zap.Int("kb_per_sec", rate), zap.Duration("delay", waited.Truncate(time.Second)),
		zap.Stringer("connection_id", s.client.ConnectionID),
	}
	if omitted > 0 {
		fields = append(fields, zap.Uint64("tokens_without_a_line", omitted))
	}
	s.hub.log.Warn("messages of a client wait for a cap", fields...)
}

// limitedSince is how long messages of the session waited, if that was in the last minute; 0: it was not.
// The caller holds s.mu.
func (s *Session) limitedSince(d direction) time.Duration {
	if s.limitationDue(d) {
		return 0
	}
	return s.limited[d].waited
}

// maxLimitedLines is how many tokens may have a line of the log in a minute. No issuer has more of them than are left:
// alone one has half, as one of two a third, and there is one left for whoever comes next.
const maxLimitedLines = 1024

type limitedKey struct {
	tokenID string
	direction
}

// limitedLog has the log say once a minute of a token that its clients wait. Safe for concurrent use.
type limitedLog struct {
	mu      sync.Mutex // guards the rest
	said    map[limitedKey]struct{}
	issuers map[string]int
	order   []limitedLine // oldest first
	omitted uint64        // since the last line
}

type limitedLine struct {
	limitedKey
	issuer string
	at     time.Duration
}

// take reports whether there is to be a line now, and how many were omitted since the one before.
func (l *limitedLog) take(now time.Duration, key limitedKey, issuer string) (ok bool, omitted uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.order) > 0 && now-l.order[0].at >= limitedEvery {
		old := takeFirst(&l.order)
		delete(l.said, old.limitedKey)
		if l.issuers[old.issuer]--; l.issuers[old.issuer] == 0 {
			delete(l.issuers, old.issuer)
		}
	}
	_, said := l.said[key]
	has, left := l.issuers[issuer], maxLimitedLines-len(l.order)
	switch {
	case said:
		return false, 0
	case left == 0, has > 0 && has >= left:
		l.omitted++
		return false, 0
	case l.said == nil:
		l.said, l.issuers = map[limitedKey]struct{}{}, map[string]int{}
	}
	l.said[key] = struct{}{}
	l.issuers[issuer]++
	l.order = append(l.order, limitedLine{key, issuer, now})
	omitted, l.omitted = l.omitted, 0
	return true, omitted
}

// ingressWait finds out whether what the client sends waits for a cap: the edge only sees that it reads
// more slowly. If something is there at once after each pause, more was sent than the cap allows; where
// the client has nothing to send then, nobody waits. Owned by the reader; times are on the hub's clock.
type ingressWait struct {
	which        string // the cap that was waited for since the last read; empty: none
	tenant       string // of that; empty: it does not matter
	began, ended time.Duration
	last         time.Duration // the end of the pause before
	since        time.Duration // from when on there was always something; 0: there was not
}

const (
	// readGap is how soon after a pause something comes that has waited.
	readGap = 100 * time.Millisecond
	// maxUnlimited is how long a client may be read from without a pause and yet wait for a cap all the while.
	maxUnlimited = time.Second
)

// waitsFor notes that the reader pauses for a cap. The reader calls it, once or more before ready.
func (s *Session) waitsFor(which, tenant string) {
	w := &s.ingressWait
	if w.which == "" {
		w.began = s.hub.now()
	}
	w.which, w.tenant = which, tenant
}

// readAfterWait is called with what was read first after a pause.
func (s *Session) readAfterWait() {
	w, now := &s.ingressWait, s.hub.now()
	switch {
	case now-w.ended > readGap:
		w.since = 0
	case w.since == 0 || w.began-w.last > maxUnlimited:
		w.since = now
	case now-w.since >= limitedAfter:
		s.noteIngress(now - w.since)
	}
	w.which, w.last = "", w.ended
}

func (s *Session) noteIngress(waited time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		s.noteLimited(ingress, s.ingressWait.which, s.ingressWait.tenant, waited)
	}
}

package tokens

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// A subject is revoked whose tokens three edges issue meanwhile. What was answered before the
// revocation is gone at every edge, sessions included; and nothing else is.
func TestRevokeSubjectOverEdges(t *testing.T) {
	t.Parallel()
	o := history.StartOverlay(t, harness.DefaultCaddyfile, "")
	for round := range harness.AtLength(1, 10) {
		subject := fmt.Sprintf("user %d & <co>", round)
		i := &subjectIssuer{Overlay: o, body: o.Edges[0].Encode(harness.SubjectRequest(subject, harness.AllowAll("room")))}
		i.revoke(subject, o.Edges[round%3], o.Edges[(round+1)%3])
	}
}

// subjectIssuer issues tokens of a subject at all edges, and notes which were answered before
// the revocation was.
type subjectIssuer struct {
	*harness.Overlay
	body       []byte
	revocation atomic.Pointer[net.TCPConn] // on which it is asked for; nil: not yet

	mu            sync.Mutex
	before, after []harness.Issued // answered before the revocation; asked for after it was answered
}

// revoked says that the revocation is answered, whether the test has read that or not.
func (i *subjectIssuer) revoked() bool {
	conn := i.revocation.Load()
	return conn != nil && harness.HasInput(i.T, conn)
}

func (i *subjectIssuer) issue(n int) {
	late := i.revoked()
	a, err := i.Edges[n%3].Try(harness.Call{Method: "POST", URL: "/v1/get-token", Token: i.Edges[0].Master, Body: i.body})
	early := !i.revoked()
	i.mu.Lock()
	defer i.mu.Unlock()
	var got harness.Issued
	switch {
	case err == nil && a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "1": // the subject is closed
	case err != nil || a.Status != http.StatusOK || json.Unmarshal(a.Body, &got) != nil:
		i.T.Errorf("get-token: %d %s, %v", a.Status, a.Body, err)
	case early:
		i.before = append(i.before, got)
	case late:
		i.after = append(i.after, got)
	}
}

func (i *subjectIssuer) counts() (before, after int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.before), len(i.after)
}

// revoke revokes the subject at one edge; the bystander is another.
func (i *subjectIssuer) revoke(subject string, at, bystander *harness.Edge) {
	t, master := i.T, i.Edges[0].Master
	tokens := harness.AtLength(30, 1000)
	for n := range tokens {
		i.issue(n)
	}
	other := i.Edges[0].IssueAs(master, harness.SubjectRequest(subject+"2", harness.AllowAll("room")))
	bystander.Poll("the other subject's token", func() bool { return bystander.Status(master, other.TokenID) == "valid" })
	session := bystander.Dial(other.Token)
	var sessions []*harness.Socket
	for n, one := range i.before[:6] {
		sessions = append(sessions, i.Edges[n%3].Dial(one.Token))
	}

	ctx, stop := context.WithCancel(t.Context())
	var issuing sync.WaitGroup
	issuing.Go(func() { // 50 a second, each on its own: while the subject is closed they wait
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			issuing.Go(func() { i.issue(n) })
			<-ticker.C
		}
	})
	defer issuing.Wait()
	defer stop()
	at.Poll("some more tokens", func() bool { before, _ := i.counts(); return before >= tokens+10 })
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", at.HTTP))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	i.revocation.Store(conn.(*net.TCPConn))
	fmt.Fprintf(conn, "DELETE /v1/tokens?subject=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", url.QueryEscape(subject), master)
	at.Poll("tokens to be issued again", func() bool { _, after := i.counts(); return after >= 10 })
	stop()
	issuing.Wait()

	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct{ Revoked int }
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != http.StatusOK || got.Revoked < len(i.before) {
		t.Fatalf("answered %d %+v, %v; %d tokens had been issued", res.StatusCode, got, err, len(i.before))
	}
	for _, s := range sessions {
		s.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
		s.ExpectClose(wire.CloseForbidden)
	}
	for n, e := range i.Edges {
		e.Poll(fmt.Sprintf("the tokens to be gone at edge %d, and no others", n), func() bool {
			valid := map[string]bool{}
			query := url.Values{"subject": {subject}, "limit": {"1000"}}
			for more := true; more; {
				page := e.List(master, query.Encode())
				for _, token := range page.Tokens {
					valid[token.TokenID] = token.Status == "valid"
				}
				query.Set("cursor", page.NextCursor)
				more = page.NextCursor != ""
			}
			isValid := func(token harness.Issued) bool { return valid[token.TokenID] }
			isGone := func(token harness.Issued) bool { return !isValid(token) }
			return !slices.ContainsFunc(i.before, isValid) && !slices.ContainsFunc(i.after, isGone)
		})
		e.Dial(i.after[0].Token).Ping()
		_, refused := e.Open(harness.Handshake{Token: i.before[len(i.before)-1].Token})
		refused.Problem(t, http.StatusUnauthorized, "")
	}
	session.Ping()
}

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// subjectTokens is how many tokens the subject has that is revoked.
var subjectTokens = atLength(60, 1000)

func subjectRequest(subject string, grants ...object) object {
	request := tokenRequest(grants...)
	request["subject"], request["info"] = subject, object{"plan": "pro"}
	return request
}

// A subject is revoked whose tokens three edges have issued, and while they issue 50 more a
// second. What was answered before the revocation is gone at every edge, sessions included;
// and nothing else is.
func TestRevokeSubjectOverEdges(t *testing.T) {
	t.Parallel()
	o := startOverlay(t, defaultCaddyfile, "")
	for round := range atLength(2, 10) {
		o.revokeSubject(fmt.Sprintf("user %d & <co>", round), round%3)
	}
}

// subjectIssuer issues tokens of a subject at all edges, and notes which were answered before
// the revocation was.
type subjectIssuer struct {
	o       *overlay
	subject string
	revoked func() bool // the revocation has been answered

	mu       sync.Mutex
	before   []issued // answered before the revocation
	after    []issued // asked for after it was answered
	unsure   int      // neither
	refused  int      // 503: the subject is closed
	failures []string
}

func (i *subjectIssuer) issue(n int) {
	body, err := json.Marshal(subjectRequest(i.subject, allowAll("room")))
	if err != nil {
		panic(err)
	}
	late := i.revoked()
	e := i.o.edges[n%3]
	a, err := e.try(call{Method: "POST", URL: "/v1/get-token", Token: i.o.edges[0].master, Body: body})
	early := !i.revoked()
	i.mu.Lock()
	defer i.mu.Unlock()
	var got issued
	switch {
	case err != nil:
		i.failures = append(i.failures, err.Error())
	case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "1":
		i.refused++
	case a.Status != http.StatusOK || json.Unmarshal(a.Body, &got) != nil:
		i.failures = append(i.failures, fmt.Sprint(a.Status, " ", string(a.Body)))
	case early:
		i.before = append(i.before, got)
	case late:
		i.after = append(i.after, got)
	default:
		i.unsure++
	}
}

// counts returns how many tokens were answered before the revocation, and how many were asked
// for after it.
func (i *subjectIssuer) counts() (before, after int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.before), len(i.after)
}

func (o *overlay) revokeSubject(subject string, at int) {
	t := o.t
	var revocation atomic.Pointer[net.TCPConn] // on which it is asked for; nil: not yet
	i := &subjectIssuer{o: o, subject: subject, revoked: func() bool {
		conn := revocation.Load()
		return conn != nil && hasInput(t, conn)
	}}

	var issuing sync.WaitGroup
	work := make(chan int)
	for range 8 {
		issuing.Go(func() {
			for n := range work {
				i.issue(n)
			}
		})
	}
	for n := range subjectTokens {
		work <- n
	}
	close(work)
	issuing.Wait()
	if before, _ := i.counts(); before != subjectTokens {
		t.Fatalf("%d of %d tokens were issued: %q", before, subjectTokens, i.failures)
	}
	other := o.edges[0].issueAs(o.edges[0].master, subjectRequest(subject+"2", allowAll("room")))
	bystander := o.with(other.Token).session((at + 1) % 3)
	var sessions []*socket
	for n, one := range i.before[:6] {
		sessions = append(sessions, o.with(one.Token).session(n%3))
	}

	ctx, stop := context.WithCancel(t.Context())
	issuing.Go(func() { // 50 a second, each on its own: while the subject is closed they wait
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		var each sync.WaitGroup
		for n := 0; ctx.Err() == nil; n++ {
			select {
			case <-ticker.C:
				each.Go(func() { i.issue(n) })
			case <-ctx.Done():
			}
		}
		each.Wait()
	})
	defer issuing.Wait()
	defer stop()
	o.edges[at].poll("some more tokens", func() bool {
		before, _ := i.counts()
		return before >= subjectTokens+10
	})
	conn, err := dialLoopback(t.Context(), "tcp", fmt.Sprintf("localhost:%d", o.edges[at].HTTP))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	revocation.Store(conn.(*net.TCPConn))
	fmt.Fprintf(conn, "DELETE /v1/tokens?subject=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
		url.QueryEscape(subject), o.edges[0].master)
	o.edges[at].poll("the answer", i.revoked)
	answered := time.Now()
	o.edges[at].poll("tokens to be issued again", func() bool {
		_, after := i.counts()
		return after >= 10
	})
	stop()
	issuing.Wait()

	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct {
		Message string
		Revoked int
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != http.StatusOK || got.Revoked < len(i.before) {
		t.Fatalf("answered %d %+v, %v; %d tokens had been issued", res.StatusCode, got, err, len(i.before))
	}
	for _, s := range sessions {
		s.expectText("ERR:" + string(wire.CodeTokenRevoked))
		s.expectClose(wire.CloseForbidden)
	}
	var took time.Duration
	for n, e := range o.edges {
		e.poll(fmt.Sprintf("the tokens to be gone at edge %d", n), func() bool {
			took = time.Since(answered)
			return o.valid(n, subject, i.before) == 0
		})
		if valid := o.valid(n, subject, i.after); valid != len(i.after) {
			t.Errorf("edge %d: of %d tokens that were issued after the revocation, %d are valid", n, len(i.after), valid)
		}
		_, refused := e.open(handshake{Token: i.before[len(i.before)-1].Token})
		refused.problem(t, http.StatusUnauthorized, "")
	}
	if took > promptly {
		t.Errorf("tokens lived for %v", took)
	}
	bystander.ping()
	o.with(i.after[0].Token).session(at).ping()
	if len(i.failures) > 0 {
		t.Errorf("%d calls failed: %q", len(i.failures), i.failures[:1])
	}
	t.Logf("%q at edge %d: %d revoked, %d of them issued meanwhile, %d after, %d between, %d refused; all gone %v after the answer (with what the test did before)",
		subject, at, got.Revoked, got.Revoked-subjectTokens, len(i.after), i.unsure, i.refused, took)
}

// with is the overlay for a client with another token.
func (o *overlay) with(token string) *overlay {
	other := *o
	other.token = token
	return &other
}

// valid returns how many of the tokens an edge lists as valid ones of the subject.
func (o *overlay) valid(at int, subject string, tokens []issued) (n int) {
	of := map[string]bool{}
	for _, one := range tokens {
		of[one.TokenID] = true
	}
	query := url.Values{"subject": {subject}, "limit": {"1000"}}
	for {
		page := o.edges[at].list(o.edges[0].master, query.Encode())
		for _, one := range page.Tokens {
			if of[one.TokenID] && one.Status == "valid" {
				n++
			}
		}
		if page.NextCursor == "" {
			return n
		}
		query.Set("cursor", page.NextCursor)
	}
}

// The operator's command issues tokens with subjects, finds them and what is connected with
// them, and revokes them.
func TestSubjectsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	issue := func(subject string) string {
		t.Helper()
		return strings.TrimSpace(e.admin("token", "issue", "--tenant", "paint.room", "--sub", "#", "--subject", subject, "--info", `{"plan":"pro"}`, "--quiet").want(0, "AT_", "").out)
	}
	ada, bob := e.dial(issue("ada")), e.dial(issue("bob"))
	e.admin("token", "list", "--subject", "ada").want(0, "ada", "").lines(2)
	e.admin("connections", "--subject", "bob").want(0, "bob", "").lines(2)
	e.admin("connections", "--subject", "bob", "--json").want(0, `"info":{"plan":"pro"}`, "")
	e.admin("token", "issue", "--tenant", "paint.room", "--subject", "a\n").want(1, "", "subject: must be 1 to 128 bytes")
	e.admin("token", "issue", "--tenant", "paint.room", "--info", "{").want(2, "", "--info: must be a JSON object")
	e.admin("token", "revoke", "--subject", "ada", strings.Repeat("0", 32)).want(2, "", "cannot be combined")
	e.admin("token", "revoke", "--subject", "").want(1, "", "subject: is empty")
	e.admin("token", "revoke", "--subject", "ada").want(0, "revoked 1 token\n", "")
	ada.expectText("ERR:" + string(wire.CodeTokenRevoked))
	ada.expectClose(wire.CloseForbidden)
	e.admin("token", "revoke", "--subject", "ada").want(0, "revoked 0 tokens\n", "")
	bob.ping()
}

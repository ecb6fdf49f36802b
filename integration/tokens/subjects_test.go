package tokens

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

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// subjectTokens is how many tokens the subject has that is revoked.
var subjectTokens = harness.AtLength(60, 1000)

// A subject is revoked whose tokens three edges have issued, and while they issue 50 more a
// second. What was answered before the revocation is gone at every edge, sessions included;
// and nothing else is.
func TestRevokeSubjectOverEdges(t *testing.T) {
	t.Parallel()
	o := history.StartOverlay(t, harness.DefaultCaddyfile, "")
	for round := range harness.AtLength(2, 10) {
		revokeSubject(o, fmt.Sprintf("user %d & <co>", round), round%3)
	}
}

// subjectIssuer issues tokens of a subject at all edges, and notes which were answered before
// the revocation was.
type subjectIssuer struct {
	o       *harness.Overlay
	subject string
	revoked func() bool // the revocation has been answered

	mu       sync.Mutex
	before   []harness.Issued // answered before the revocation
	after    []harness.Issued // asked for after it was answered
	unsure   int              // neither
	refused  int              // 503: the subject is closed
	failures []string
}

func (i *subjectIssuer) Issue(n int) {
	body, err := json.Marshal(harness.SubjectRequest(i.subject, harness.AllowAll("room")))
	if err != nil {
		panic(err)
	}
	late := i.revoked()
	e := i.o.Edges[n%3]
	a, err := e.Try(harness.Call{Method: "POST", URL: "/v1/get-token", Token: i.o.Edges[0].Master, Body: body})
	early := !i.revoked()
	i.mu.Lock()
	defer i.mu.Unlock()
	var got harness.Issued
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

func revokeSubject(o *harness.Overlay, subject string, at int) {
	t := o.T
	var revocation atomic.Pointer[net.TCPConn] // on which it is asked for; nil: not yet
	i := &subjectIssuer{o: o, subject: subject, revoked: func() bool {
		conn := revocation.Load()
		return conn != nil && harness.HasInput(t, conn)
	}}

	var issuing sync.WaitGroup
	work := make(chan int)
	for range 8 {
		issuing.Go(func() {
			for n := range work {
				i.Issue(n)
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
	other := o.Edges[0].IssueAs(o.Edges[0].Master, harness.SubjectRequest(subject+"2", harness.AllowAll("room")))
	bystander := with(o, other.Token).Session((at + 1) % 3)
	var sessions []*harness.Socket
	for n, one := range i.before[:6] {
		sessions = append(sessions, with(o, one.Token).Session(n%3))
	}

	ctx, stop := context.WithCancel(t.Context())
	issuing.Go(func() { // 50 a second, each on its own: while the subject is closed they wait
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		var each sync.WaitGroup
		for n := 0; ctx.Err() == nil; n++ {
			select {
			case <-ticker.C:
				each.Go(func() { i.Issue(n) })
			case <-ctx.Done():
			}
		}
		each.Wait()
	})
	defer issuing.Wait()
	defer stop()
	o.Edges[at].Poll("some more tokens", func() bool {
		before, _ := i.counts()
		return before >= subjectTokens+10
	})
	conn, err := harness.DialLoopback(t.Context(), "tcp", fmt.Sprintf("localhost:%d", o.Edges[at].HTTP))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	revocation.Store(conn.(*net.TCPConn))
	fmt.Fprintf(conn, "DELETE /v1/tokens?subject=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
		url.QueryEscape(subject), o.Edges[0].Master)
	o.Edges[at].Poll("the answer", i.revoked)
	answered := time.Now()
	o.Edges[at].Poll("tokens to be issued again", func() bool {
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
		s.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
		s.ExpectClose(wire.CloseForbidden)
	}
	var took time.Duration
	for n, e := range o.Edges {
		e.Poll(fmt.Sprintf("the tokens to be gone at edge %d", n), func() bool {
			took = time.Since(answered)
			return valid(o, n, subject, i.before) == 0
		})
		if valid := valid(o, n, subject, i.after); valid != len(i.after) {
			t.Errorf("edge %d: of %d tokens that were issued after the revocation, %d are valid", n, len(i.after), valid)
		}
		_, refused := e.Open(harness.Handshake{Token: i.before[len(i.before)-1].Token})
		refused.Problem(t, http.StatusUnauthorized, "")
	}
	if took > harness.Promptly {
		t.Errorf("tokens lived for %v", took)
	}
	bystander.Ping()
	with(o, i.after[0].Token).Session(at).Ping()
	if len(i.failures) > 0 {
		t.Errorf("%d calls failed: %q", len(i.failures), i.failures[:1])
	}
	t.Logf("%q at edge %d: %d revoked, %d of them issued meanwhile, %d after, %d between, %d refused; all gone %v after the answer (with what the test did before)",
		subject, at, got.Revoked, got.Revoked-subjectTokens, len(i.after), i.unsure, i.refused, took)
}

// with is the overlay for a client with another token.
func with(o *harness.Overlay, token string) *harness.Overlay {
	other := *o
	other.Token = token
	return &other
}

// valid returns how many of the tokens an edge lists as valid ones of the subject.
func valid(o *harness.Overlay, at int, subject string, tokens []harness.Issued) (n int) {
	of := map[string]bool{}
	for _, one := range tokens {
		of[one.TokenID] = true
	}
	query := url.Values{"subject": {subject}, "limit": {"1000"}}
	for {
		page := o.Edges[at].List(o.Edges[0].Master, query.Encode())
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
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	issue := func(subject string) string {
		t.Helper()
		return strings.TrimSpace(e.AdminCLI("token", "issue", "--tenant", "paint.room", "--sub", "#", "--subject", subject, "--info", `{"plan":"pro"}`, "--quiet").Want(0, "AT_", "").Out)
	}
	ada, bob := e.Dial(issue("ada")), e.Dial(issue("bob"))
	e.AdminCLI("token", "list", "--subject", "ada").Want(0, "ada", "").Lines(2)
	e.AdminCLI("connections", "--subject", "bob").Want(0, "bob", "").Lines(2)
	e.AdminCLI("connections", "--subject", "bob", "--json").Want(0, `"info":{"plan":"pro"}`, "")
	e.AdminCLI("token", "issue", "--tenant", "paint.room", "--subject", "a\n").Want(1, "", "subject: must be 1 to 128 bytes")
	e.AdminCLI("token", "issue", "--tenant", "paint.room", "--info", "{").Want(2, "", "--info: must be a JSON object")
	e.AdminCLI("token", "revoke", "--subject", "ada", strings.Repeat("0", 32)).Want(2, "", "cannot be combined")
	e.AdminCLI("token", "revoke", "--subject", "").Want(1, "", "subject: is empty")
	e.AdminCLI("token", "revoke", "--subject", "ada").Want(0, "revoked 1 token\n", "")
	ada.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
	ada.ExpectClose(wire.CloseForbidden)
	e.AdminCLI("token", "revoke", "--subject", "ada").Want(0, "revoked 0 tokens\n", "")
	bob.Ping()
}

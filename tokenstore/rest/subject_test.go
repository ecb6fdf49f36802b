package rest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// Subject and info come back as they were sent, and the calls answer to the byte.
func TestSubjects(t *testing.T) {
	e := newEdge(t)
	const subject = `R&D "é" +%`
	body := strings.Replace(e.issueBody("eu", time.Hour), `{`, `{"subject":"R&D \"\u00e9\" +%","info":{ "plan" : "<pro>", "n":[1.50] },`, 1)
	id, _ := e.wantOK(e.do(request(http.MethodPost, "/v1/get-token", masterPaint, body)))["token_id"].(string)
	e.issueFor(masterPaint, "eu", "bob")
	e.issueFor(masterAll, "eu", "bob")
	of := "?subject=" + strings.ReplaceAll(url.QueryEscape(subject), "+", "%20")
	read := func(res *http.Response) string {
		t.Helper()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%d %s %v", res.StatusCode, text, err)
		}
		return string(text)
	}
	list := read(e.do(request(http.MethodGet, "/v1/tokens"+of, masterPaint, "")))
	if want := `"subject":"R\u0026D \"é\" +%","info":{"plan":"\u003cpro\u003e","n":[1.50]}`; strings.Count(list, want) != 1 || strings.Count(list, "token_id") != 1 {
		t.Errorf("listed %s, want one with %s", list, want)
	}
	revoked := func(n, subject string) string {
		return `{"message":"tokens revoked","revoked":` + n + `,"subject":` + subject + `}`
	}
	e.issueFor(masterPaint, "eu", "a+b")
	e.issueFor(masterPaint, "eu", "a b")
	if list := read(e.do(request(http.MethodGet, "/v1/tokens?subject=a+b", masterPaint, ""))); strings.Count(list, `"subject":"a b"`) != 1 {
		t.Errorf("a plus in a list is no space: %s", list)
	}
	const quoted = `"R\u0026D \"é\" +%"`
	for _, c := range []struct{ target, body, want string }{
		{"/v1/tokens" + of, "", revoked("1", quoted)},
		{"/v1/tokens" + of, `{}`, revoked("0", quoted)},
		{"/v1/tokens" + of, `no JSON`, revoked("0", quoted)},
		{"/v1/tokens", `{"subject":"R&D \"\u00e9\" +%"}`, revoked("0", quoted)},
		{"/v1/tokens?subject=nobody", "", revoked("0", `"nobody"`)},
		{"/v1/tokens?subject=bob", "", revoked("1", `"bob"`)},
		{"/v1/tokens?subject=a%2Bb", "", revoked("1", `"a+b"`)},
		{"/v1/tokens", `{"subject":"a b"}`, revoked("1", `"a b"`)},
		{"/v1/tokens/" + id, "", `{"message":"token revoked","token_id":"` + id + `"}`},
	} {
		if got := read(e.do(request(http.MethodDelete, c.target, masterPaint, c.body))); got != c.want {
			t.Errorf("DELETE %s %s: %s, want %s", c.target, c.body, got, c.want)
		}
	}
	e.wantProblem(e.do(request(http.MethodDelete, "/v1/tokens/"+hexA, masterPaint, "")), CodeUnknownToken)
	e.now = e.now.Add(2 * time.Hour) // expired
	_, old := e.issue(masterAll, "demo")
	e.now = e.now.Add(2 * time.Hour)
	e.wantOK(e.do(request(http.MethodDelete, "/v1/tokens/"+old, masterAll, "")))
}

// Every refusal names the place and quotes nothing.
func TestSubjectRefusals(t *testing.T) {
	e := newEdge(t)
	id := e.issueFor(masterAll, "demo", "ada")
	issue := func(fields string) string {
		return strings.Replace(e.issueBody("demo", time.Hour), `{`, `{`+fields+`,`, 1)
	}
	for _, c := range []struct{ method, target, body, place string }{
		{http.MethodPost, "/v1/get-token", issue(`"subject":"s3cret\n"`), "subject: must be 1 to 128 bytes"},
		{http.MethodPost, "/v1/get-token", issue(`"subject":""`), "subject: is empty; omit it instead"},
		{http.MethodPost, "/v1/get-token", issue(`"subject":["s3cret"]`), "subject: must be a string"},
		{http.MethodPost, "/v1/get-token", issue(`"subject":"a","subject":"s3cret"`), "subject: is given more than once"},
		{http.MethodPost, "/v1/get-token", issue(`"info":"s3cret"`), "info: must be a JSON object"},
		{http.MethodPost, "/v1/get-token", issue(`"info":{"s3cret":1,"s3cret":2}`), "info: has an object in which a key"},
		{http.MethodPost, "/v1/get-token", issue(`"info":{"s3cret":"\ud800"}`), "body: has half a surrogate pair"},
		{http.MethodPost, "/v1/get-token", issue(`"info":{"s3cret":"` + strings.Repeat("x", 1024) + `"}`), "info: must be at most 1024 bytes"},
		{http.MethodPost, "/v1/get-token", issue(`"info":` + strings.Repeat(`{"s3cret":`, 17) + "1" + strings.Repeat("}", 17)), "info: must be nested at most 16 deep"},
		{http.MethodPost, "/v1/get-token", issue(`"info":` + strings.Repeat("[", 6000) + strings.Repeat("]", 6000)), "info: must be a JSON object"},
		{http.MethodGet, "/v1/tokens?subject=s3cret%0A", "", "subject: must be 1 to 128 bytes"},
		{http.MethodGet, "/v1/tokens?subject=s3cret%FF", "", "subject: must be 1 to 128 bytes"},
		{http.MethodGet, "/v1/tokens?subject=", "", "subject: is empty"},
		{http.MethodDelete, "/v1/tokens", "", "subject: is missing"},
		{http.MethodDelete, "/v1/tokens?subject=", "", "subject: is empty"},
		{http.MethodDelete, "/v1/tokens?subject=s3cret+x", "", "query: must be percent-encoded"},
		{http.MethodDelete, "/v1/tokens?subject=s3cré", "", "query: must be percent-encoded"},
		{http.MethodDelete, "/v1/tokens?subject=s3cret", `{"subject":"other"}`, "subject: is another one in the body"},
		{http.MethodDelete, "/v1/tokens", `{}`, "subject: is missing"},
		{http.MethodDelete, "/v1/tokens", `{"subject":""}`, "subject: is empty"},
		{http.MethodDelete, "/v1/tokens", `{"subject":"s3cret\n"}`, "subject: must be 1 to 128 bytes"},
		{http.MethodDelete, "/v1/tokens", `{"subjects":"a"}`, `body: has an unknown key "subjects"; allowed: subject`},
		{http.MethodDelete, "/v1/tokens?subject=s3cret&subject=s3cret", "", "subject: is given more than once"},
		{http.MethodDelete, "/v1/tokens?subject=s3cret&tenant=demo", "", "query: has an unknown parameter; allowed: subject"},
		{http.MethodDelete, "/v1/tokens?subject=s3cret%00", "", "subject: must be 1 to 128 bytes"},
		{http.MethodDelete, "/v1/tokens/s3cret", "", "token_id: must be 32 lower-case hex digits"},
		{http.MethodDelete, "/v1/tokens/AT_" + id + "_" + hexA, "", "token_id: must be 32 lower-case hex digits"},
		{http.MethodDelete, "/v1/tokens/%30" + id[1:], "", "token_id: must be 32 lower-case hex digits"},
		{http.MethodDelete, "/v1/tokens/" + id + "?s3cret=1", "", "query: must be empty"},
	} {
		detail := e.wantProblem(e.do(request(c.method, c.target, masterAll, c.body)), CodeInvalidBody)
		if !strings.HasPrefix(detail, c.place) || strings.Contains(detail, "s3cret") || strings.Contains(detail, id) {
			t.Errorf("%s %s: %q, want it at %q and without what was sent", c.method, c.target, detail, c.place)
		}
	}
	for _, target := range []string{"/v1/tokens/", "/v1/tokens/" + id + "/", "/v1/tokens/" + id + "/x", "/v1/tokens%2F" + id} {
		e.wantProblem(e.do(request(http.MethodDelete, target, masterAll, "")), CodeNotFound)
	}
	list := e.wantOK(e.do(request(http.MethodGet, "/v1/tokens?subject=ada", masterAll, "")))
	if tokens, _ := list["tokens"].([]any); len(tokens) != 1 || tokens[0].(map[string]any)["status"] != "valid" {
		t.Errorf("after all refusals: %v", list)
	}
}

// A subject stays closed until its answer is written.
func TestReopenedAfterTheAnswer(t *testing.T) {
	e := newEdge(t)
	service := e.options.Service()
	issued := make(chan error)
	rec := &observedRecorder{ResponseRecorder: httptest.NewRecorder(), flushed: func() {
		closings := 0
		err := e.store.Store.Scan(t.Context(), tokenstore.KindClosing, "", func(tokenstore.Record) bool {
			closings++
			return true
		})
		if err != nil || closings != 1 {
			t.Errorf("when the answer is written, %d subjects are closed, %v", closings, err)
		}
		go func() {
			_, err := service.Issue(t.Context(), service.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Subject: "ada", Right: tokenstore.Right{
				TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{"demo"}}}, ExpiresAt: timestamp(e.now.Add(time.Hour)),
			}})
			issued <- err
		}()
	}}
	NewHandler(e.options).ServeHTTP(rec, request(http.MethodDelete, "/v1/tokens?subject=ada", masterAll, ""))
	if rec.flushed != nil || rec.Code != http.StatusOK {
		t.Fatalf("answered %d %s", rec.Code, rec.Body)
	}
	must(t, <-issued)
}

// observedRecorder calls flushed once, when a whole answer is flushed.
type observedRecorder struct {
	*httptest.ResponseRecorder
	flushed func()
}

func (r *observedRecorder) FlushError() error {
	if r.Body.Len() > 0 && r.flushed != nil {
		r.flushed()
		r.flushed = nil
	}
	r.Flush()
	return nil
}

// A caller who does not read the answer keeps nobody from issuing for more than a second, and
// only those whose tokens it manages.
func TestAnswerThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t)
		rec := &observedRecorder{ResponseRecorder: httptest.NewRecorder()}
		reads, served := make(chan struct{}), make(chan struct{})
		rec.flushed = func() { <-reads }
		go func() {
			defer close(served)
			NewHandler(e.options).ServeHTTP(rec, request(http.MethodDelete, "/v1/tokens?subject=ada", masterPaint, ""))
		}()
		synctest.Wait()
		start := time.Now()
		e.issueFor(masterAll, "demo", "ada")
		equal(t, "others waited for", time.Since(start), 0)
		e.issueFor(masterPaint, "eu", "ada")
		equal(t, "it waited for itself for", time.Since(start), time.Second)
		close(reads)
		<-served
	})
}

func TestObserveSubjects(t *testing.T) {
	e := newEdge(t)
	issue := strings.Replace(e.issueBody("eu", time.Hour), `{`, `{"subject":"ada",`, 1)
	ops := e.observed(request(http.MethodPost, "/v1/get-token", masterPaint, issue))
	if len(ops) != 1 || ops[0].Subject != "ada" {
		t.Fatalf("observed %+v", ops)
	}
	e.wantObserved(request(http.MethodDelete, "/v1/tokens?subject=ada", masterPaint, ""), Operation{
		Name: "revoke_subject", Master: idPaint, IP: clientAddr, Status: 200, Subject: "ada", Revoked: 1,
	})
	e.wantObserved(request(http.MethodDelete, "/v1/tokens?subject=a%00", masterPaint, ""), Operation{
		Name: "revoke_subject", Master: idPaint, IP: clientAddr, Status: 400, Code: CodeInvalidBody,
	})
	e.wantObserved(request(http.MethodDelete, "/v1/tokens/"+ops[0].TokenID, masterPaint, ""), Operation{
		Name: "revoke", Master: idPaint, IP: clientAddr, Status: 200, TokenID: ops[0].TokenID,
	})
	e.wantObserved(request(http.MethodDelete, "/v1/tokens/"+hexA, masterPaint, ""), Operation{
		Name: "revoke", Master: idPaint, IP: clientAddr, Status: 404, Code: CodeUnknownToken, TokenID: hexA,
	})
	e.wantObserved(request(http.MethodDelete, "/v1/tokens/"+strings.ToUpper(hexA), masterPaint, ""), Operation{
		Name: "revoke", Master: idPaint, IP: clientAddr, Status: 400, Code: CodeInvalidBody,
	})
	e.store.full = true
	e.wantObserved(request(http.MethodDelete, "/v1/tokens?subject=ada", masterPaint, ""), Operation{
		Name: "revoke_subject", Master: idPaint, IP: clientAddr, Status: 503, Code: CodeInsufficientStorage, Subject: "ada",
	})
}

package tokenstore_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// issueFor issues a token of a subject.
func (b *testbed) issueFor(t *testing.T, m *tokenstore.Master, subject string, tenants ...string) tokenstore.Issued {
	t.Helper()
	issued, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{CreatedBy: "test", Subject: subject, Right: grantAll(tenants...)})
	must(t, err)
	return issued
}

func TestSubjectRules(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	deep := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	large := `{"a":"` + strings.Repeat("x", tokenstore.MaxInfo-len(`{"a":""}`)) + `"}`
	for _, c := range []struct {
		name, subject, info string
		path                string // of the refusal; empty: it is accepted
		stored              string // info as it is stored; empty: as it was sent
	}{
		{"neither", "", "", "", ""},
		{"subject", "ada", "", "", ""},
		{"subject of 128 bytes", strings.Repeat("é", 64), "", "", ""},
		{"subject of any text", `R&D <"ada"> \ ` + "\u2028", "", "", ""},
		{"subject too long", strings.Repeat("é", 64) + "x", "", "subject", ""},
		{"line feed", "a\nb", "", "subject", ""},
		{"DEL", "a\x7f", "", "subject", ""},
		{"C1", "a\u0085", "", "subject", ""},
		{"not UTF-8", "a\xff", "", "subject", ""},
		{"info without subject", "", `{"plan":"pro"}`, "", ""},
		{"info with space", "ada", " { \"a\" :\n[1, {\"b\": null}] }\t", "", `{"a":[1,{"b":null}]}`},
		{"info of any text", "ada", `{"":"<&>\u2028","n":1e999,"s":"\"}{"}`, "", ""},
		{"the same key in two objects", "ada", `{"a":{"a":1},"b":{"a":"a"}}`, "", ""},
		{"largest info", "ada", large, "", ""},
		{"largest info with space", "ada", strings.Repeat(" ", 5000) + large, "", large},
		{"info too large", "ada", strings.Replace(large, "x", "xx", 1), "info", ""},
		{"deepest info", "ada", deep(tokenstore.MaxInfoDepth), "", ""},
		{"info too deep", "ada", deep(tokenstore.MaxInfoDepth + 1), "info", ""},
		{"lists too deep", "ada", `{"a":` + strings.Repeat("[", 16) + strings.Repeat("]", 16) + "}", "info", ""},
		{"a list", "ada", `["s3cret"]`, "info", ""},
		{"null", "ada", `null`, "info", ""},
		{"a string", "ada", `"s3cret"`, "info", ""},
		{"not JSON", "ada", `{"s3cret"`, "info", ""},
		{"two values", "ada", `{}{}`, "info", ""},
		{"only space", "ada", " ", "info", ""},
		{"a key twice", "ada", `{"s3cret":1,"b":{},"s3cret":2}`, "info", ""},
		{"a key twice by escape", "ada", `{"b":[{"a":{},"\u0061":2}]}`, "info", ""},
		{"info not UTF-8", "ada", "{\"a\":\"\xff\"}", "info", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{
				CreatedBy: "test", Subject: c.subject, Info: json.RawMessage(c.info), Right: grantAll("demo"),
			})
			if c.path != "" {
				wantInvalid(t, err, c.path, tokenstore.CodeInvalidBody, "s3cret")
				return
			}
			must(t, err)
			want := c.stored
			if want == "" {
				want = c.info
			}
			a, err := b.Authenticate(t.Context(), issued.Token)
			if err != nil || a.Subject != c.subject || string(a.Info) != want {
				t.Errorf("authenticated as %q with %q, %v; want %q", a.Subject, a.Info, err, want)
			}
			list, _, err := b.List(t.Context(), b.Overlay(), tokenstore.ListOptions{ID: issued.TokenID})
			if err != nil || len(list) != 1 || list[0].Subject != c.subject || string(list[0].Info) != want {
				t.Errorf("listed %+v, %v", list, err)
			}
			// Both stay when the record changes.
			must(t, errorOf(b.Refresh(t.Context(), b.Overlay(), issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})))
			if a, err = b.Lookup(t.Context(), issued.TokenID); err != nil || a.Subject != c.subject || string(a.Info) != want {
				t.Errorf("after a refresh: %q with %q, %v", a.Subject, a.Info, err)
			}
		})
	}
}

// A revocation ends the valid tokens of the subject that the master token manages, and
// nothing else, with an index and without.
func TestRevokeSubject(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		b := newTestbed(t, tokenstore.Config{})
		if indexed {
			index := tokenstore.NewIndex(b.store)
			defer index.Close()
			b = newTestbedOn(t, b.store, tokenstore.Config{Index: index})
		}
		paint, _ := b.master(t, "paint")
		eu, _ := b.master(t, "paint.eu")
		other, _ := b.master(t, "other")
		const subject = `R&D "ada"`
		tokens := map[string]tokenstore.Issued{
			"paint":     b.issueFor(t, paint, subject, "us"),
			"paint 2":   b.issueFor(t, paint, subject, "us", "eu.1"),
			"eu":        b.issueFor(t, eu, subject, "1"),
			"paint eu":  b.issueFor(t, paint, subject, "eu.2"),
			"other":     b.issueFor(t, other, subject, "us"),
			"both":      b.issueFor(t, b.Overlay(), subject, "paint.us", "other.us"),
			"no one's":  b.issue(t, paint, grantAll("us")),
			"another's": b.issueFor(t, paint, subject+"2", "us"),
			"revoked":   b.issueFor(t, paint, subject, "us"),
		}
		short := grantAll("us")
		short.ExpiresAt = at(time.Minute)
		expiring, err := b.Issue(t.Context(), paint, tokenstore.IssueRequest{CreatedBy: "test", Subject: subject, Right: short})
		must(t, err)
		must(t, b.RevokeByID(t.Context(), paint, tokens["revoked"].TokenID))
		gone := map[string]bool{"revoked": true}
		check := func(what string) {
			t.Helper()
			for name, issued := range tokens {
				_, err := b.Authenticate(t.Context(), issued.Token)
				if (err != nil) != gone[name] {
					t.Errorf("indexed %v, %s: the token %q: %v", indexed, what, name, err)
				}
			}
		}
		revoke := func(who string, m *tokenstore.Master, want int, ends ...string) {
			t.Helper()
			n, err := b.RevokeSubject(t.Context(), m, subject)
			if err != nil || n != want {
				t.Errorf("indexed %v, %s: revoked %d, %v; want %d", indexed, who, n, err, want)
			}
			for _, name := range ends {
				gone[name] = true
			}
			check(who)
		}
		b.advance(59 * time.Second)
		revoke("eu", eu, 2, "eu", "paint eu")
		b.advance(2 * time.Second) // one token has just expired: it is revoked, too, and does not count
		revoke("paint", paint, 2, "paint", "paint 2")
		if _, err := b.Refresh(t.Context(), paint, expiring.TokenID, tokenstore.Expiry{At: at(time.Hour)}); err == nil {
			t.Error("an expired token was refreshed")
		}
		list, _, err := b.List(t.Context(), paint, tokenstore.ListOptions{ID: expiring.TokenID})
		if err != nil || len(list) != 1 || list[0].Status != tokenstore.StatusRevoked {
			t.Errorf("a token that a slow clock may still refresh is %+v, %v", list, err)
		}
		revoke("paint again", paint, 0)
		revoke("other", other, 1, "other")
		revoke("overlay", b.Overlay(), 1, "both")
		tokens["new"] = b.issueFor(t, paint, subject, "us")
		check("after all")
		for _, bad := range []string{"", "a\n", strings.Repeat("x", 129)} {
			_, err := b.RevokeSubject(t.Context(), paint, bad)
			wantInvalid(t, err, "subject", tokenstore.CodeInvalidBody)
		}
		err = b.store.Scan(t.Context(), tokenstore.KindClosing, "", func(rec tokenstore.Record) bool {
			t.Errorf("a record of a revocation is left: %s", rec.Value)
			return true
		})
		must(t, err)
	}
}

// A backup has subject and info, and nothing of revocations that run. A restore takes
// only what Issue would have stored.
func TestBackupOfSubjects(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{
		CreatedBy: "test", Subject: `R&D "é"`, Info: json.RawMessage("{ \"a\":\"<&>\u2028\"}"), Right: grantAll("demo"),
	})
	must(t, err)
	_, reopen, err := b.RevokeAndClose(t.Context(), b.Overlay(), "ada")
	must(t, err)
	defer reopen()
	file := b.backup(t)
	restored := newTestbed(t, tokenstore.Config{})
	restored.restored(t, file, tokenstore.RestoreOptions{}, tokenstore.Restored{AccessTokens: 1, Valid: 1})
	a, err := restored.Authenticate(t.Context(), issued.Token)
	if err != nil || a.Subject != `R&D "é"` || string(a.Info) != "{\"a\":\"<&>\u2028\"}" {
		t.Errorf("restored as %q with %s, %v", a.Subject, a.Info, err)
	}
	for _, bad := range []func(record map[string]any){
		func(record map[string]any) { record["subject"] = "a\n" },
		func(record map[string]any) { record["subject"] = strings.Repeat("x", 129) },
		func(record map[string]any) { record["info"] = []int{1} },
		func(record map[string]any) { record["info"] = map[string]string{"a": strings.Repeat("x", 1024)} },
	} {
		damaged := newTestbed(t, tokenstore.Config{})
		id := damaged.issueFor(t, damaged.Overlay(), "ada", "demo").TokenID
		damaged.rewrite(t, id, func(t *testing.T, fields map[string]any) string {
			bad(fields)
			return asJSON(t, fields)
		})
		_, err := tokenstore.CheckBackup(bytes.NewReader(damaged.backup(t)))
		wantErr(t, "CheckBackup", err, tokenstore.ErrBadBackup)
	}
}

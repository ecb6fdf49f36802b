package tokenstore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// labels are legal values of created_by that JSON may or must write with escapes, and ones
// that look like other parts of a record.
var labels = []string{
	"ci", "c", "ci.", `R&D <"ci">`, `back\slash`, "é\u2028\x01\t", "revoked_at", `expires_at":"2000-01-01T00:00:00Z`, "a\"ci\"", "\U0001F600",
}

// list returns the ids of all pages.
func (b *testbed) list(t *testing.T, m *tokenstore.Master, opt tokenstore.ListOptions) (ids []string) {
	t.Helper()
	for {
		tokens, next, err := b.List(t.Context(), m, opt)
		if err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		for _, tok := range tokens {
			ids = append(ids, tok.TokenID)
		}
		if next == "" {
			return ids
		}
		opt.Cursor = next
	}
}

// A search finds what looking at every token finds, for a master token with a prefix too.
func TestSearch(t *testing.T) {
	for _, prefix := range []string{"", "app"} {
		b := newTestbed(t, tokenstore.Config{})
		index := tokenstore.NewIndex(b.store)
		defer index.Close()
		b = newTestbedOn(t, b.store, tokenstore.Config{Index: index})
		m, _ := b.master(t, prefix)
		for i := range 3 * len(labels) {
			right := grantAll(fmt.Sprint("t", i%2))
			right.ExpiresAt = at(time.Duration(1+i%2) * time.Hour)
			issued, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{
				CreatedBy: labels[i%len(labels)], Description: labels[i/3], Right: right,
			})
			must(t, err)
			if i%3 == 0 {
				must(t, errorOf(b.Revoke(t.Context(), m, issued.Token)))
			}
			switch i % 4 {
			case 0:
				b.rewrite(t, issued.TokenID, escape)
			case 1:
				b.rewrite(t, issued.TokenID, turnAround)
			}
		}
		b.advance(90 * time.Minute)
		all, _, err := b.List(t.Context(), m, tokenstore.ListOptions{})
		if err != nil || len(all) != 3*len(labels) {
			t.Fatal(len(all), err)
		}
		found := 0
		for _, id := range []string{"", "0", all[7].TokenID[:2], all[7].TokenID[:31], all[7].TokenID} {
			for _, label := range append(labels, "", "no such") {
				for _, status := range []string{"", tokenstore.StatusValid, tokenstore.StatusExpired, tokenstore.StatusRevoked} {
					for limit := 1; limit <= 100; limit *= 10 {
						opt := tokenstore.ListOptions{ID: id, CreatedBy: label, Status: status, Limit: limit}
						var want []string
						for _, tok := range all {
							if strings.HasPrefix(tok.TokenID, id) && (label == "" || tok.CreatedBy == label) && (status == "" || tok.Status == status) {
								want = append(want, tok.TokenID)
							}
						}
						if got := b.list(t, m, opt); !slices.Equal(got, want) {
							t.Errorf("prefix %q, %+v: got %v, want %v", prefix, opt, got, want)
						}
						found += len(want)
					}
				}
			}
		}
		if found < 100 {
			t.Errorf("the searches found %d tokens: too few to say anything", found)
		}
	}
}

// rewrite stores a record as somebody else might write it, who edited a backup.
func (b *testbed) rewrite(t *testing.T, id string, edit func(t *testing.T, fields map[string]any) string) {
	t.Helper()
	rec, err := b.store.Get(t.Context(), tokenstore.KindAccess, id)
	must(t, err)
	var fields map[string]any
	must(t, json.Unmarshal(rec.Value, &fields))
	rec.Value = []byte(edit(t, fields))
	must(t, errorOf(b.store.Update(t.Context(), rec)))
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	return string(text)
}

// escape writes each character of created_by as an escape.
func escape(t *testing.T, fields map[string]any) string {
	var escaped strings.Builder
	for _, r := range fields["created_by"].(string) {
		if r < 0x10000 {
			fmt.Fprintf(&escaped, `\u%04x`, r)
		} else {
			escaped.WriteRune(r)
		}
	}
	fields["created_by"] = "PLACE"
	return strings.Replace(asJSON(t, fields), "PLACE", escaped.String(), 1)
}

// turnAround writes the right first, with an expires_at of its own, which says nothing.
func turnAround(t *testing.T, fields map[string]any) string {
	right := fields["right"].(map[string]any)
	right["expires_at"] = "2000-01-01T00:00:00Z"
	delete(fields, "right")
	text := strings.ReplaceAll(asJSON(t, right)+","+asJSON(t, fields)[1:], `": "`, `":"`)
	return `{"right":` + text
}

func TestSearchRefusals(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	for _, c := range []struct {
		path, value string
		opt         tokenstore.ListOptions
	}{
		{"id", "ABC", tokenstore.ListOptions{ID: "ABC"}},
		{"id", "AT_", tokenstore.ListOptions{ID: "AT_0"}},
		{"id", "333", tokenstore.ListOptions{ID: strings.Repeat("3", 33)}},
		{"created_by", "xxx", tokenstore.ListOptions{CreatedBy: strings.Repeat("x", 257)}},
		{"created_by", "\xff", tokenstore.ListOptions{CreatedBy: "\xff"}},
		{"status", "good", tokenstore.ListOptions{Status: "good"}},
		{"subject", "a\n", tokenstore.ListOptions{Subject: "a\n"}},
	} {
		_, _, err := b.List(t.Context(), b.Overlay(), c.opt)
		wantInvalid(t, err, c.path, tokenstore.CodeInvalidBody, c.value)
	}
}

// One call looks at a bounded number of records, however few match; those of another id
// are passed over, and do not count.
func TestSearchIsBounded(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "")
	first := b.issue(t, m, grantAll("t"))
	rec, err := b.store.Get(t.Context(), tokenstore.KindAccess, first.TokenID)
	must(t, err)
	for i := range 4999 {
		rec.ID = fmt.Sprintf("%032x", i)
		must(t, errorOf(b.store.Create(t.Context(), rec)))
	}
	tokens, next, err := b.List(t.Context(), m, tokenstore.ListOptions{CreatedBy: "nobody"})
	if err != nil || len(tokens) != 0 || next != fmt.Sprintf("%032x", 3999) {
		t.Errorf("got %d tokens and the cursor %q, error %v", len(tokens), next, err)
	}
	for id, mayVisit := range map[string]int{first.TokenID: 2, fmt.Sprintf("%032x", 0x2f): 17} { // the latter has 15 neighbours
		counting := &countingStore{Store: b.store}
		tokens, next, err = newTestbedOn(t, counting, tokenstore.Config{}).List(t.Context(), m, tokenstore.ListOptions{ID: id})
		if err != nil || len(tokens) != 1 || next != "" || counting.count(0) > mayVisit {
			t.Errorf("%s: got %d tokens and the cursor %q after %d records, error %v", id, len(tokens), next, counting.count(0), err)
		}
	}
}

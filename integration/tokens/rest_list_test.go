package tokens

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

func TestListTokens(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	request := harness.TokenRequest(harness.Grant("room", []string{"a.#"}, []string{"b.*"}))
	request["description"] = "for the list"
	request["right"].(harness.Object)["allow_regions"] = []string{"EU"}
	begin := time.Now().Truncate(time.Second)
	described := e.IssueAs(e.Master, request)
	revoked := e.Issue(harness.AllowAll("hall"))
	e.Revoke(e.Master, revoked.Token).Decode(t, http.StatusOK, new(harness.Object))
	expired := e.IssueExpired()
	nested := e.IssueAs(m.nested, harness.TokenRequest(harness.AllowAll("room")))
	other := e.IssueAs(m.other, harness.TokenRequest(harness.AllowAll("room")))
	mixed := e.IssueAs(m.all, harness.TokenRequest(harness.AllowAll("paint.room", "elsewhere")))

	t.Run("namespaces", func(t *testing.T) {
		e := e.With(t)
		ours := ids(described, revoked, expired, nested)
		for _, tc := range []struct {
			name, master string
			want         []string
		}{
			{"own and nested", e.Master, ours},
			{"twin", m.twin, ours},
			{"nested alone", m.nested, ids(nested)},
			{"same letters", m.other, ids(other)},
			{"the whole overlay", m.all, ids(described, revoked, expired, nested, other, mixed)},
		} {
			if got := listedIDs(e.List(tc.master, "")); !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
			}
		}
	})

	t.Run("metadata", func(t *testing.T) {
		e := e.With(t)
		statuses := map[string]string{
			described.TokenID: "valid", revoked.TokenID: "revoked", expired.TokenID: "expired", nested.TokenID: "valid",
		}
		for _, token := range e.List(e.Master, "").Tokens {
			if token.Status != statuses[token.TokenID] {
				t.Errorf("got status %q, want %q", token.Status, statuses[token.TokenID])
			}
			if (token.Status == "revoked") != (token.RevokedAt != "") {
				t.Errorf("status %s with revoked_at %q", token.Status, token.RevokedAt)
			}
			if token.TokenID != described.TokenID {
				continue
			}
			if token.CreatedBy != "integration" || token.Description != "for the list" || token.ExpiresAt != described.ExpiresAt {
				t.Errorf("got %+v", token)
			}
			created, err := time.Parse(time.RFC3339, token.CreatedAt)
			if err != nil || created.Before(begin) || created.After(time.Now()) {
				t.Errorf("got created_at %q, %v", token.CreatedAt, err)
			}
			var right struct {
				TenantGrants []struct {
					TenantIDs []string `json:"tenant_ids"`
					Pub       []string `json:"allow_channels_pub"`
					Sub       []string `json:"allow_channels_sub"`
				} `json:"tenant_grants"`
				Regions []string `json:"allow_regions"`
			}
			if err := json.Unmarshal(token.Right, &right); err != nil {
				t.Fatalf("%v: %s", err, token.Right)
			}
			if len(right.TenantGrants) != 1 || !slices.Equal(right.TenantGrants[0].TenantIDs, []string{"paint.room"}) ||
				!slices.Equal(right.TenantGrants[0].Pub, []string{"a.#"}) || !slices.Equal(right.TenantGrants[0].Sub, []string{"b.*"}) ||
				!slices.Equal(right.Regions, []string{"EU"}) {
				t.Errorf("got right %s", token.Right)
			}
		}
	})

	t.Run("no secrets", func(t *testing.T) {
		e := e.With(t)
		body := string(e.Rest("GET", "/v1/tokens?limit=1000", m.all, nil).Body)
		for _, token := range []harness.Issued{described, revoked, expired, nested, other, mixed} {
			if secret := token.Token[36:]; strings.Contains(body, secret) {
				t.Error("the list holds a secret")
			}
		}
		if strings.Contains(body, "AT_") || strings.Contains(body, "MT_") || strings.Contains(body, "hash") {
			t.Errorf("the list holds more than metadata: %s", body)
		}
	})

	t.Run("pages", func(t *testing.T) {
		e := e.With(t)
		want := ids(described, revoked, expired, nested, other, mixed)
		for _, limit := range []string{"1", "2", "3", "5"} {
			var got []string
			page := e.List(m.all, "limit="+limit)
			for {
				got = append(got, listedIDs(page)...)
				if page.NextCursor == "" || len(got) > len(want) {
					break
				}
				page = e.List(m.all, "limit="+limit+"&cursor="+page.NextCursor)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("limit %s: got %q, want %q", limit, got, want)
			}
		}
	})

	t.Run("tenant", func(t *testing.T) {
		e := e.With(t)
		for tenant, want := range map[string][]string{
			"paint.room":    ids(described, expired, mixed),
			"paint.hall":    ids(revoked),
			"paint.eu.room": ids(nested),
			"elsewhere":     ids(mixed),
			"nobody":        nil,
		} {
			if got := listedIDs(e.List(m.all, "tenant="+tenant)); !slices.Equal(got, want) {
				t.Errorf("tenant %s: got %q, want %q", tenant, got, want)
			}
		}
		if got := listedIDs(e.List(m.nested, "tenant=paint.room")); len(got) != 0 {
			t.Errorf("a tenant outside the namespace: got %q, want none", got)
		}
	})

	for _, query := range []string{"limit=0", "limit=-1", "limit=1001", "limit=x", "limit=1.5", "cursor=%21", "tenant=a:b"} {
		t.Run("refused "+query, func(t *testing.T) {
			e.With(t).Rest("GET", "/v1/tokens?"+query, e.Master, nil).Problem(t, http.StatusBadRequest, "")
		})
	}
	if got := e.List(e.Master, "limit=1000"); len(got.Tokens) != 4 {
		t.Errorf("limit 1000: got %d tokens, want 4", len(got.Tokens))
	}
}

func TestListTokensDefaultsTo100(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for range 101 {
		e.Issue(harness.AllowAll("room"))
	}
	first := e.List(e.Master, "")
	if len(first.Tokens) != 100 || first.NextCursor == "" {
		t.Errorf("got %d tokens, cursor %q; want 100 and a cursor", len(first.Tokens), first.NextCursor)
	}
	second := e.List(e.Master, "cursor="+first.NextCursor)
	if len(second.Tokens) != 1 || second.NextCursor != "" {
		t.Errorf("got %d tokens, cursor %q; want 1 and none", len(second.Tokens), second.NextCursor)
	}
}

// ids returns the ids of tokens, sorted.
func ids(tokens ...harness.Issued) []string {
	var all []string
	for _, token := range tokens {
		all = append(all, token.TokenID)
	}
	slices.Sort(all)
	return all
}

// listedIDs returns the ids of a list, sorted.
func listedIDs(list harness.TokenList) []string {
	var all []string
	for _, token := range list.Tokens {
		all = append(all, token.TokenID)
	}
	slices.Sort(all)
	return all
}

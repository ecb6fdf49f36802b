package tokenstore_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

func TestCreateMasterRefuses(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	for _, c := range []struct {
		path, bad string
		spec      tokenstore.MasterSpec
	}{
		{"name", "", tokenstore.MasterSpec{}},
		{"name", "éé", tokenstore.MasterSpec{Name: strings.Repeat("é", 65)}},
		{"name", "\xff", tokenstore.MasterSpec{Name: "\xff"}},
		{"description", "éé", tokenstore.MasterSpec{Name: "n", Description: strings.Repeat("é", 513)}},
		{"tenant_prefix", "a:b", tokenstore.MasterSpec{Name: "n", TenantPrefix: "a:b"}},
		{"allow_ip_masks[1]", "x.y", tokenstore.MasterSpec{Name: "n", AllowIPMasks: []string{"::/0", "x.y"}}},
	} {
		_, _, err := b.CreateMaster(t.Context(), c.spec)
		wantInvalid(t, err, c.path, tokenstore.CodeInvalidBody, c.bad)
		_, err = tokenstore.NewService(b.store, tokenstore.Config{
			StaticMasters: []tokenstore.StaticMaster{{ID: someID, MasterSpec: c.spec}},
		})
		wantInvalid(t, err, c.path, tokenstore.CodeInvalidBody)
	}
	m, token, err := b.CreateMaster(t.Context(), tokenstore.MasterSpec{
		Name: strings.Repeat("é", 64), Description: strings.Repeat("é", 512),
		TenantPrefix: "paint", AllowIPMasks: []string{"10.1.2.3/8"},
	})
	must(t, err)
	if m.TenantPrefix != "paint." || !slices.Equal(m.AllowIPMasks, []string{"10.0.0.0/8"}) || m.CreatedAt != noon || m.Static {
		t.Errorf("created %+v", m)
	}
	text, err := json.Marshal(m)
	if err != nil || strings.Contains(string(text), token[36:]) || !strings.Contains(string(text), `"tenant_prefix":"paint."`) {
		t.Errorf("JSON %s, %v", text, err)
	}
}

func TestNewServiceRefuses(t *testing.T) {
	one := tokenstore.StaticMaster{ID: someID, MasterSpec: tokenstore.MasterSpec{Name: "n"}}
	for name, cfg := range map[string]tokenstore.Config{
		"cap":     {MaxKBPerSec: -1},
		"region":  {Regions: []string{"EU", ""}},
		"id":      {StaticMasters: []tokenstore.StaticMaster{{ID: "x", MasterSpec: one.MasterSpec}}},
		"same id": {StaticMasters: []tokenstore.StaticMaster{one, one}},
	} {
		if _, err := tokenstore.NewService(nil, cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAuthenticateMaster(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, token := b.master(t, "app")
	equal(t, "prefix", m.TenantPrefix, "app.")
	bad := append(malformed(token),
		"MT_"+m.ID+"_"+someSecret,                // wrong secret
		"MT_"+someID+"_"+token[36:],              // unknown id
		b.issue(t, m, grantAll("t")).Token,       // another kind
		strings.Replace(token, "MT_", "AT_", 1),  // the same
		"MT_"+m.ID+"_sha256:"+token[36:]+someID,  // only for the configuration
		"MT_"+m.ID+"_"+strings.Repeat("0", 32),   // wrong secret
		"Bearer "+token, token+" ", token+"\x00", // not trimmed
	)
	for _, s := range bad {
		_, err := b.AuthenticateMaster(t.Context(), s, netip.MustParseAddr("::1"))
		wantErr(t, s, err, tokenstore.ErrBadMasterToken)
	}
}

func TestMasterMasks(t *testing.T) {
	_, hash, err := tokenstore.ParseStaticMaster("MT_" + someID + "_" + someSecret)
	must(t, err)
	spec := tokenstore.MasterSpec{Name: "n", AllowIPMasks: []string{"10.0.0.0/8", "2001:db8::1"}}
	b := newTestbed(t, tokenstore.Config{StaticMasters: []tokenstore.StaticMaster{{ID: someID, SecretHash: hash, MasterSpec: spec}}})
	_, stored, err := b.CreateMaster(t.Context(), spec)
	must(t, err)
	for _, token := range []string{stored, "MT_" + someID + "_" + someSecret} {
		for ip, want := range map[string]error{
			"10.9.9.9": nil, "::ffff:10.9.9.9": nil, "2001:db8::1": nil,
			"11.0.0.1": tokenstore.ErrIPNotAllowed, "2001:db8::2": tokenstore.ErrIPNotAllowed, "": tokenstore.ErrIPNotAllowed,
		} {
			addr, _ := netip.ParseAddr(ip) // "": not known
			_, err := b.AuthenticateMaster(t.Context(), token, addr)
			wantErr(t, ip, err, want)
		}
		_, err := b.AuthenticateMaster(t.Context(), token[:36]+strings.Repeat("0", 32), netip.Addr{})
		wantErr(t, "wrong secret and address", err, tokenstore.ErrBadMasterToken)
	}
}

// TestStaticMaster has a static master whose id also exists in the store.
func TestStaticMaster(t *testing.T) {
	plain := newTestbed(t, tokenstore.Config{})
	m, storedToken := plain.master(t, "stored")
	_, hash, err := tokenstore.ParseStaticMaster("MT_" + m.ID + "_" + someSecret)
	must(t, err)
	b := newTestbedOn(t, plain.store, tokenstore.Config{StaticMasters: []tokenstore.StaticMaster{
		{ID: m.ID, SecretHash: hash, MasterSpec: tokenstore.MasterSpec{Name: "static", TenantPrefix: "static"}},
	}})
	got, err := b.AuthenticateMaster(t.Context(), "MT_"+m.ID+"_"+someSecret, netip.Addr{})
	must(t, err)
	if got.TenantPrefix != "static." || !got.Static {
		t.Errorf("got %+v", got)
	}
	b.issue(t, got, grantAll("t"))
	_, err = b.AuthenticateMaster(t.Context(), storedToken, netip.Addr{})
	wantErr(t, "the stored secret behind a static master", err, tokenstore.ErrBadMasterToken)

	masters, err := b.ListMasters(t.Context())
	if err != nil || len(masters) != 1 || masters[0].Name != "static" {
		t.Errorf("ListMasters = %+v, %v", masters, err)
	}
	_, err = b.UpdateMaster(t.Context(), m.ID, tokenstore.MasterPatch{})
	wantErr(t, "UpdateMaster", err, tokenstore.ErrStaticMaster)
	_, _, _, err = b.RotateMaster(t.Context(), m.ID, true)
	wantErr(t, "RotateMaster", err, tokenstore.ErrStaticMaster)
	_, err = b.DeleteMaster(t.Context(), m.ID, true)
	wantErr(t, "DeleteMaster", err, tokenstore.ErrStaticMaster)

	// Removed from the configuration, it is gone at once and hides nothing.
	_, err = plain.AuthenticateMaster(t.Context(), "MT_"+m.ID+"_"+someSecret, netip.Addr{})
	wantErr(t, "a removed static master", err, tokenstore.ErrBadMasterToken)
	_, err = plain.AuthenticateMaster(t.Context(), storedToken, netip.Addr{})
	wantErr(t, "the stored master", err, nil)
}

func TestListMasters(t *testing.T) {
	static := []tokenstore.StaticMaster{
		{ID: strings.Repeat("f", 32), MasterSpec: tokenstore.MasterSpec{Name: "first"}},
		{ID: strings.Repeat("0", 32), MasterSpec: tokenstore.MasterSpec{Name: "second"}},
	}
	b := newTestbed(t, tokenstore.Config{StaticMasters: static})
	var stored []string
	for range 5 {
		m, _ := b.master(t, "")
		stored = append(stored, m.ID)
	}
	slices.Sort(stored)
	want := append([]string{static[0].ID, static[1].ID}, stored...)
	masters, err := b.ListMasters(t.Context())
	must(t, err)
	var got []string
	for _, m := range masters {
		got = append(got, m.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("ListMasters = %v, want %v", got, want)
	}
}

func TestUpdateMaster(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, token := b.master(t, "old")
	issued := b.issue(t, m, grantAll("t"))

	got, err := b.UpdateMaster(t.Context(), m.ID, tokenstore.MasterPatch{Description: new("text"), AllowIPMasks: &[]string{"::1/128"}})
	if err != nil || got.Name != "test" || got.Description != "text" || got.TenantPrefix != "old." || !slices.Equal(got.AllowIPMasks, []string{"::1"}) {
		t.Errorf("UpdateMaster = %+v, %v", got, err)
	}
	if _, err = b.UpdateMaster(t.Context(), m.ID, tokenstore.MasterPatch{
		Name: new("new name"), TenantPrefix: new("new"), AllowIPMasks: &[]string{},
	}); err != nil {
		t.Fatal(err)
	}
	m, err = b.AuthenticateMaster(t.Context(), token, netip.Addr{})
	if err != nil || m.Name != "new name" || m.Description != "text" || m.TenantPrefix != "new." {
		t.Fatalf("AuthenticateMaster = %+v, %v", m, err)
	}
	wantErr(t, "a token of the old prefix", b.RevokeByID(t.Context(), m, issued.TokenID), tokenstore.ErrUnknownToken)

	_, err = b.UpdateMaster(t.Context(), m.ID, tokenstore.MasterPatch{Name: new("")})
	wantInvalid(t, err, "name", tokenstore.CodeInvalidBody)
	for _, id := range []string{someID, "", "x", token} {
		_, err = b.UpdateMaster(t.Context(), id, tokenstore.MasterPatch{})
		wantErr(t, id, err, tokenstore.ErrUnknownMaster)
		_, _, _, err = b.RotateMaster(t.Context(), id, false)
		wantErr(t, id, err, tokenstore.ErrUnknownMaster)
		_, err = b.DeleteMaster(t.Context(), id, false)
		wantErr(t, id, err, tokenstore.ErrUnknownMaster)
	}
}

// TestEndOfMaster rotates and deletes masters, with and without their tokens.
func TestEndOfMaster(t *testing.T) {
	for _, revoke := range []bool{false, true} {
		for _, rotate := range []bool{false, true} {
			b := newTestbed(t, tokenstore.Config{})
			m, token := b.master(t, "app")
			other, _ := b.master(t, "app")
			mine := []tokenstore.Issued{b.issue(t, m, grantAll("a")), b.issue(t, m, grantAll("b"))}
			gone := b.issue(t, m, grantAll("c"))
			must(t, b.RevokeByID(t.Context(), m, gone.TokenID))
			foreign := b.issue(t, other, grantAll("a"))

			var revoked int
			var err error
			if rotate {
				var again tokenstore.Master
				var newToken string
				again, newToken, revoked, err = b.RotateMaster(t.Context(), m.ID, revoke)
				if again.ID != m.ID || newToken == token || again.Name != "test" {
					t.Errorf("RotateMaster = %+v", again)
				}
				if _, err := b.AuthenticateMaster(t.Context(), newToken, netip.Addr{}); err != nil {
					t.Errorf("the new secret: %v", err)
				}
			} else {
				revoked, err = b.DeleteMaster(t.Context(), m.ID, revoke)
				if _, err := b.DeleteMaster(t.Context(), m.ID, revoke); err != tokenstore.ErrUnknownMaster {
					t.Errorf("second DeleteMaster: %v", err)
				}
			}
			if want := map[bool]int{true: 2}[revoke]; err != nil || revoked != want {
				t.Errorf("revoked %d, %v; want %d", revoked, err, want)
			}
			_, err = b.AuthenticateMaster(t.Context(), token, netip.Addr{})
			wantErr(t, "the old secret", err, tokenstore.ErrBadMasterToken)
			for _, issued := range mine {
				_, err := b.Authenticate(t.Context(), issued.Token)
				wantErr(t, "a token of the master", err, map[bool]error{true: tokenstore.ErrUnauthorized}[revoke])
				_, err = b.Refresh(t.Context(), other, issued.TokenID, tokenstore.Expiry{At: at(60e9)})
				wantErr(t, "a refresh by a successor", err, map[bool]error{true: tokenstore.ErrTokenRevoked}[revoke])
			}
			_, err = b.Authenticate(t.Context(), foreign.Token)
			wantErr(t, "another master's token", err, nil)

			// Whoever authenticated before cannot issue any more.
			_, err = b.Issue(t.Context(), m, tokenstore.IssueRequest{CreatedBy: "late", Right: grantAll("a")})
			wantErr(t, "a late Issue", err, tokenstore.ErrBadMasterToken)
			tokens, _, err := b.List(t.Context(), other, tokenstore.ListOptions{})
			if err != nil || len(tokens) != 4 {
				t.Errorf("%d tokens are left, %v; want 4 without the late one", len(tokens), err)
			}
		}
	}
}

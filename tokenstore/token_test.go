package tokenstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

const (
	someID     = "0123456789abcdef0123456789abcdef"
	someSecret = "fedcba9876543210fedcba9876543210"
)

func TestTokenShape(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	shape := regexp.MustCompile(`^(AT|MT)_[0-9a-f]{32}_[0-9a-f]{32}$`)
	seen := map[string]bool{}
	for range 50 {
		m, token := b.master(t, "")
		issued := b.issue(t, m, grantAll("t"))
		for _, tok := range []string{token, issued.Token} {
			parts := strings.Split(tok, "_")
			if !shape.MatchString(tok) || seen[parts[1]] || seen[parts[2]] {
				t.Fatalf("token %q has a wrong shape or repeats", tok)
			}
			seen[parts[1]], seen[parts[2]] = true, true
		}
		if issued.TokenID != strings.Split(issued.Token, "_")[1] || m.ID != strings.Split(token, "_")[1] {
			t.Error("the id is not the token's")
		}
	}
}

func TestStoredWithoutSecrets(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, token := b.master(t, "")
	issued := b.issue(t, m, grantAll("t"))
	for kind, token := range map[tokenstore.Kind]string{
		tokenstore.KindMaster: token, tokenstore.KindAccess: issued.Token,
	} {
		parts := strings.Split(token, "_")
		rec, err := b.store.Get(t.Context(), kind, parts[1])
		must(t, err)
		hash := sha256.Sum256([]byte(parts[2]))
		if strings.Contains(string(rec.Value), parts[2]) {
			t.Errorf("%s: the secret is stored", kind)
		}
		if !strings.Contains(string(rec.Value), hex.EncodeToString(hash[:])) {
			t.Errorf("%s: the hash is not stored", kind)
		}
	}
}

// malformed gives broken forms of a token.
func malformed(token string) []string {
	id, secret := token[3:35], token[36:]
	return []string{
		"", "_", token[:3], token[:67], token + "0", " " + token, token + "\n", token[1:],
		"XX_" + id + "_" + secret, strings.ToLower(token[:3]) + token[3:],
		token[:3] + strings.Repeat("A", 32) + "_" + secret,
		token[:3] + id + "-" + secret, token[:3] + id + secret + "_",
		token[:3] + id + "_" + strings.Repeat("g", 32), token[:3] + id[:31] + "_" + secret + "0",
		token[:3] + "../../../../../../../../../../.._" + secret,
	}
}

func TestMalformedAccessToken(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	issued := b.issue(t, b.Overlay(), grantAll("t"))
	for _, token := range malformed(issued.Token) {
		_, err := b.Authenticate(t.Context(), token)
		wantErr(t, token, err, tokenstore.ErrUnauthorized)
		_, err = b.Revoke(t.Context(), b.Overlay(), token)
		wantInvalid(t, err, "token", tokenstore.CodeInvalidBody)
		if len(token) > 5 && strings.Contains(err.Error(), token) {
			t.Errorf("%q quotes the token", err)
		}
	}
	for _, id := range []string{"", someID[1:], someID + "0", strings.ToUpper(someID), issued.Token} {
		_, err := b.Lookup(t.Context(), id)
		wantErr(t, id, err, tokenstore.ErrUnauthorized)
		_, err = b.Refresh(t.Context(), b.Overlay(), id, tokenstore.Expiry{At: at(60e9)})
		wantInvalid(t, err, "token_id", tokenstore.CodeInvalidBody, id)
		wantInvalid(t, b.RevokeByID(t.Context(), b.Overlay(), id), "token_id", tokenstore.CodeInvalidBody, id)
	}
}

func TestParseStaticMaster(t *testing.T) {
	hash := sha256.Sum256([]byte(someSecret))
	digest := hex.EncodeToString(hash[:])
	for _, s := range []string{"MT_" + someID + "_" + someSecret, "MT_" + someID + "_sha256:" + digest} {
		id, got, err := tokenstore.ParseStaticMaster(s)
		if err != nil || id != someID || got != hash {
			t.Errorf("ParseStaticMaster(%q) = %s, %x, %v", s, id, got, err)
		}
	}
	bad := append(malformed("MT_"+someID+"_"+someSecret),
		"AT_"+someID+"_"+someSecret,
		"AT_"+someID+"_sha256:"+digest,
		"MT_"+someID+"_sha256:"+digest[1:],
		"MT_"+someID+"_sha256:"+digest+"0",
		"MT_"+someID+"_sha256:"+strings.ToUpper(digest),
		"MT_"+someID+"_SHA256:"+digest,
		"MT_"+someID+"_sha512:"+digest,
		"MT_"+someID[1:]+"_sha256:"+digest,
		someID+"_sha256:"+digest,
	)
	for _, s := range bad {
		_, _, err := tokenstore.ParseStaticMaster(s)
		if err == nil {
			t.Errorf("ParseStaticMaster(%q) succeeded", s)
		} else if len(s) > 5 && strings.Contains(err.Error(), s) {
			t.Errorf("the error quotes %q", s)
		}
	}
}

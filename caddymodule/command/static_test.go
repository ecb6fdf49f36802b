package command

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// Nothing is asked of an edge, and the hash is that of the shown secret.
func TestCreateStatic(t *testing.T) {
	got := run(t.Context(), "", "master-token", "create", "--static", "--json", "--address", nobody,
		"--name", "paint", "--description", `the "paint" app`, "--tenant-prefix", "paint",
		"--ip-mask", "10.0.0.0/8", "--ip-mask", "2001:db8::1",
		"--max-tokens", "1000", "--max-bytes", "1048576", "--calls-per-second", "10")
	if got.code != 0 {
		t.Fatalf("got exit code %d: %s", got.code, got.err)
	}
	var made struct{ ID, Token, Hash, Caddyfile string }
	if err := json.Unmarshal([]byte(got.out), &made); err != nil {
		t.Fatal(err)
	}
	id, hash, err := tokenstore.ParseStaticMaster(made.Hash)
	if err != nil || id != made.ID {
		t.Fatalf("the hash form %q: id %q, %v", made.Hash, id, err)
	}
	tokenID, tokenHash, err := tokenstore.ParseStaticMaster(made.Token)
	if err != nil || tokenID != id || tokenHash != hash {
		t.Errorf("token and hash form are not of the same secret")
	}
	secret := strings.TrimPrefix(made.Token, "MT_"+id+"_")
	if hash != sha256.Sum256([]byte(secret)) {
		t.Errorf("the hash is not that of the secret's text")
	}
	want := "master_token " + made.Hash + " {\n" +
		"\tname paint\n" +
		"\tdescription `the \"paint\" app`\n" +
		"\ttenant_prefix paint.\n" +
		"\tallow_ip_masks 10.0.0.0/8 2001:db8::1\n" +
		"\tmax_tokens 1000\n" +
		"\tmax_bytes 1048576\n" +
		"\tcalls_per_second 10\n" +
		"}\n"
	if made.Caddyfile != want {
		t.Errorf("got\n%s\nwant\n%s", made.Caddyfile, want)
	}

	text := run(t.Context(), "", "master-token", "create", "--static", "--name", "x")
	if text.code != 0 || !strings.HasPrefix(text.out, "token  MT_") || !strings.Contains(text.out, "\nmaster_token MT_") || !strings.Contains(text.err, "shown only once") {
		t.Errorf("got exit code %d, %q, %q", text.code, text.out, text.err)
	}
	if strings.Contains(text.out, made.ID) {
		t.Error("the same token came twice")
	}
}

func TestCreateStaticRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"--name: must be 1 to 64 characters":     {"--name", strings.Repeat("x", 65)},
		"--name: must not contain braces":        {"--name", "{$HOME}"},
		"--description: must not contain braces": {"--name", "x", "--description", "a`b"},
		"--tenant-prefix: ":                      {"--name", "x", "--tenant-prefix", "a b"},
		"--ip-mask: must be an IP address":       {"--name", "x", "--ip-mask", "10.0.0.0/99"},
		"max_tokens: must be an integer from 0":  {"--name", "x", "--max-tokens", "-1"},
	} {
		got := run(t.Context(), "", append([]string{"master-token", "create", "--static"}, args...)...)
		if got.code != 2 || !strings.Contains(got.err, want) || got.out != "" {
			t.Errorf("%q: got exit code %d, %q, %q; want %q", args, got.code, got.out, got.err, want)
		}
	}
}

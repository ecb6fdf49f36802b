package command

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/tokenstore"
)

// createStatic creates a master token for a Caddyfile.
func createStatic(cmd *cobra.Command, spec tokenstore.MasterSpec, asJSON bool) error {
	block, err := staticBlock(&spec)
	if err != nil {
		return err
	}
	id, secret := randomHex(), randomHex()
	hash := sha256.Sum256([]byte(secret))
	token, hashed := "MT_"+id+"_"+secret, "MT_"+id+"_sha256:"+hex.EncodeToString(hash[:])
	lines := "master_token " + hashed + " {\n" + block + "}\n"
	out := cmd.OutOrStdout()
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]string{"id": id, "token": token, "hash": hashed, "caddyfile": lines})
	}
	cmd.PrintErrln(shownOnce)
	_, err = fmt.Fprintf(out, "token  %s\n\nFor the global block pubsub of the Caddyfile, which needs only its hash:\n\n%s", token, lines)
	return err
}

// staticBlock returns the options of the token as lines of a Caddyfile. It refuses only
// what an edge would refuse when it loads them.
func staticBlock(spec *tokenstore.MasterSpec) (string, error) {
	if n := utf8.RuneCountInString(spec.Name); n > tokenstore.MaxMasterName {
		return "", usagef("--name: must be 1 to %d characters", tokenstore.MaxMasterName)
	}
	if n := utf8.RuneCountInString(spec.Description); n > tokenstore.MaxDescription {
		return "", usagef("--description: must be at most %d characters", tokenstore.MaxDescription)
	}
	prefix, err := tokenstore.NormalizePrefix(spec.TenantPrefix)
	if err != nil {
		return "", usagef("--tenant-prefix: %w", err)
	}
	// This finds the errors that an edge would find; it needs no store.
	static := tokenstore.StaticMaster{ID: randomHex(), MasterSpec: *spec}
	if _, err := tokenstore.NewService(nil, tokenstore.Config{StaticMasters: []tokenstore.StaticMaster{static}}); err != nil {
		var invalid *tokenstore.InvalidError
		if errors.As(err, &invalid) && strings.HasPrefix(invalid.Path, "allow_ip_masks") {
			return "", usagef("--ip-mask: %s", invalid.Reason)
		}
		return "", usagef("%w", err)
	}
	var b strings.Builder
	for _, option := range []struct {
		name   string
		flag   string
		values []string
	}{
		{"name", "--name", []string{spec.Name}},
		{"description", "--description", []string{spec.Description}},
		{"tenant_prefix", "--tenant-prefix", []string{prefix}},
		{"allow_ip_masks", "--ip-mask", spec.AllowIPMasks},
		{"max_tokens", "--max-tokens", count(int64(spec.MaxTokens))},
		{"max_bytes", "--max-bytes", count(spec.MaxBytes)},
		{"calls_per_second", "--calls-per-second", count(int64(spec.CallsPerSecond))},
	} {
		if strings.Join(option.values, "") == "" {
			continue
		}
		b.WriteString("\t" + option.name)
		for _, value := range option.values {
			quoted, ok := caddyQuote(value)
			if !ok {
				return "", usagef("%s: must not contain braces, backticks or line breaks", option.flag)
			}
			b.WriteString(" " + quoted)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// count returns the value of an option, which is omitted if it is zero.
func count(n int64) []string {
	if n == 0 {
		return nil
	}
	return []string{strconv.FormatInt(n, 10)}
}

// randomHex returns 128 random bits as 32 hex digits.
func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // documented never to fail: it ends the process instead
	return hex.EncodeToString(b[:])
}

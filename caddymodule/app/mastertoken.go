package app

import (
	"errors"
	"regexp"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/tokenstore"
)

// MasterToken is a master token of the configuration.
type MasterToken struct {
	// Token is `{env.NAME}` or `{file./path}`, holding `MT_<id>_<secret>`; or
	// the hash form `MT_<id>_sha256:<hash of the secret>` as it stands. A secret
	// written out would be in Caddy's saved configuration, and is refused.
	Token string `json:"token" placeholders:"kept"`
	// Name is a short label, at most 64 characters. Default: `static`.
	Name string `json:"name,omitempty"`
	// Description is a comment, at most 512 characters.
	Description string `json:"description,omitempty" placeholders:"kept"`
	// TenantPrefix is the namespace of the app that holds the token. Default:
	// none, the whole overlay.
	TenantPrefix string `json:"tenant_prefix,omitempty"`
	// AllowIPMasks are the addresses and CIDRs that may use the token. Default:
	// none, no limit.
	AllowIPMasks []string `json:"allow_ip_masks,omitempty"`
	// MaxTokens is how many access tokens the token may have issued that are still
	// in the store, until a day after they expire. Default, and zero: the option
	// limits.max_tokens_per_master.
	MaxTokens int `json:"max_tokens,omitempty"`
	// MaxBytes is how many bytes they may have in the store. Default, and zero:
	// limits.max_token_bytes_per_master.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// CallsPerSecond is how many calls the token may make to this edge in a second.
	// Default, and zero: limits.max_calls_per_master.
	CallsPerSecond int `json:"calls_per_second,omitempty"`
}

var (
	hashForm = regexp.MustCompile(`^MT_[0-9a-f]{32}_sha256:[0-9a-f]{64}$`)

	errLiteralSecret = errors.New("the secret must not stand in the configuration, which Caddy saves to disk: " +
		"give {env.NAME} or {file./path} (not {$NAME}, which is put in place when the Caddyfile is read), " +
		"or the hash form MT_<id>_sha256:<hash> that `pubsub master-token create --static` prints")
)

func (m MasterToken) resolve() (tokenstore.StaticMaster, error) {
	static := tokenstore.StaticMaster{MasterSpec: tokenstore.MasterSpec{
		Name:         m.Name,
		Description:  m.Description,
		TenantPrefix: m.TenantPrefix,
		AllowIPMasks: m.AllowIPMasks,
		Quota:        tokenstore.Quota{MaxTokens: m.MaxTokens, MaxBytes: m.MaxBytes, CallsPerSecond: m.CallsPerSecond},
	}}
	if static.Name == "" {
		static.Name = "static"
	}
	value := m.Token
	switch {
	case args.Placeholder.MatchString(value):
		var err error
		if value, err = args.Replace(value); err != nil {
			return static, err
		}
	case !hashForm.MatchString(value):
		return static, errLiteralSecret
	}
	var err error
	static.ID, static.SecretHash, err = tokenstore.ParseStaticMaster(value)
	return static, err
}

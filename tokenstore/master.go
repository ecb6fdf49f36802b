package tokenstore

import "time"

// A Master describes a master token without its secret.
type Master struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	Description  string    `json:"description,omitempty"`
	TenantPrefix string    `json:"tenant_prefix"` // its namespace; empty: every tenant
	AllowIPMasks []string  `json:"allow_ip_masks,omitempty"`
	CreatedAt    time.Time `json:"created_at,omitzero"` // zero for static ones
	Static       bool      `json:"static"`              // part of the configuration
	Quota

	secret secretHash // as it was when the master authenticated
}

// A MasterSpec is the part of a master token that the operator decides.
type MasterSpec struct {
	Name         string   `json:"name"`                     // 1–64 characters
	Description  string   `json:"description,omitempty"`    // at most 512 characters
	TenantPrefix string   `json:"tenant_prefix,omitempty"`  // see NormalizePrefix; empty: every tenant
	AllowIPMasks []string `json:"allow_ip_masks,omitempty"` // of callers; empty: no limit
	Quota
}

// A MasterPatch changes the fields that are not nil.
type MasterPatch struct {
	Name           *string   `json:"name,omitempty"`
	Description    *string   `json:"description,omitempty"`
	TenantPrefix   *string   `json:"tenant_prefix,omitempty"`
	AllowIPMasks   *[]string `json:"allow_ip_masks,omitempty"`
	MaxTokens      *int      `json:"max_tokens,omitempty"`
	MaxBytes       *int64    `json:"max_bytes,omitempty"`
	CallsPerSecond *int      `json:"calls_per_second,omitempty"`
}

// A StaticMaster is a master token of the configuration.
type StaticMaster struct {
	ID         string   // 32 lower-case hex digits
	SecretHash [32]byte // SHA-256 of the secret's hex text, see ParseStaticMaster
	MasterSpec
}

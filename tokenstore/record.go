package tokenstore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// accessRecord is the stored form of an access token.
type accessRecord struct {
	formatted
	Hash        secretHash      `json:"secret_sha256"`
	MasterID    string          `json:"master_id,omitempty"`
	CreatedBy   string          `json:"created_by"`
	Description string          `json:"description,omitempty"`
	Subject     string          `json:"subject,omitempty"`
	Info        json.RawMessage `json:"info,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	ExpiresAt   time.Time       `json:"expires_at"`
	RevokedAt   *time.Time      `json:"revoked_at,omitempty"`
	Right       Right           `json:"right"` // normalised, physical tenants, without ExpiresAt
}

func (r *accessRecord) status(now time.Time) string {
	switch {
	case r.RevokedAt != nil:
		return StatusRevoked
	case !now.Before(r.ExpiresAt):
		return StatusExpired
	}
	return StatusValid
}

func (r *accessRecord) info(id string, now time.Time) AccessInfo {
	info := AccessInfo{
		TokenID: id, CreatedBy: r.CreatedBy, Description: r.Description,
		Subject: r.Subject, Info: r.Info,
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt,
		Status: r.status(now), MasterID: r.MasterID, Right: r.Right,
	}
	info.Right.ExpiresAt = r.ExpiresAt.Format(time.RFC3339)
	return info
}

// encode returns the record in the form that a Store keeps.
func (r *accessRecord) encode(id string, version uint64) (Record, error) {
	var value bytes.Buffer
	enc := json.NewEncoder(&value)
	enc.SetEscapeHTML(false) // the info stays as it is
	if err := enc.Encode(r); err != nil {
		return Record{}, fmt.Errorf("tokenstore: encode access token %s: %w", id, err)
	}
	return Record{
		Kind: KindAccess, ID: id, Value: bytes.TrimSuffix(value.Bytes(), []byte("\n")), Version: version,
		DeleteAfter: r.ExpiresAt.Add(KeepExpired),
	}, nil
}

// masterRecord is the stored form of a master token.
type masterRecord struct {
	formatted
	Hash      secretHash `json:"secret_sha256"`
	CreatedAt time.Time  `json:"created_at"`
	MasterSpec
}

func (r *masterRecord) master(id string) Master {
	return Master{
		ID: id, Name: r.Name, Description: r.Description, TenantPrefix: r.TenantPrefix,
		AllowIPMasks: r.AllowIPMasks, CreatedAt: r.CreatedAt, secret: r.Hash, Quota: r.Quota,
	}
}

func (r *masterRecord) encode(id string, version uint64) (Record, error) {
	value, err := json.Marshal(r)
	if err != nil {
		return Record{}, fmt.Errorf("tokenstore: encode master token %s: %w", id, err)
	}
	return Record{Kind: KindMaster, ID: id, Value: value, Version: version}, nil
}

// decode reads the stored form of either record. It returns an [ErrFormat] for one of a
// later format.
func decode(rec Record, into interface{ checkFormat(Record) error }) error {
	if err := json.Unmarshal(rec.Value, into); err != nil {
		var f formatted
		if json.Unmarshal(rec.Value, &f) == nil && f.checkFormat(rec) != nil {
			return f.checkFormat(rec)
		}
		// The cause may quote the value, which holds the hash.
		return fmt.Errorf("tokenstore: the record of %s token %s cannot be read", rec.Kind, rec.ID)
	}
	return into.checkFormat(rec)
}

// MarshalText writes the hash in hex.
func (h secretHash) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, h[:]), nil
}

// UnmarshalText reads the hash from hex.
func (h *secretHash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return hex.ErrLength
	}
	_, err := hex.Decode(h[:], text)
	return err
}

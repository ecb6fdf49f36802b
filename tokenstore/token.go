package tokenstore

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"
)

// A token is its kind's prefix, the id, "_" and the secret. Id and secret are
// 128 random bits each, as 32 lower-case hex digits.
const (
	accessPrefix = "AT_"
	masterPrefix = "MT_"
	hexLen       = 32

	staticHashMark = "sha256:" // precedes the hash in a static master token
)

// secretHash is the SHA-256 of a secret's hex text. The secret has 128 random
// bits, so a slow hash would add cost and no safety.
type secretHash [sha256.Size]byte

func hashSecret(secret string) secretHash { return sha256.Sum256([]byte(secret)) }

// matches compares in constant time.
func (h secretHash) matches(secret string) bool {
	other := hashSecret(secret)
	return subtle.ConstantTimeCompare(h[:], other[:]) == 1
}

// mint returns a new token with the given id; an empty id gives a new one.
func mint(prefix, id string) (token, newID string, hash secretHash) {
	if id == "" {
		id = randomHex()
	}
	secret := randomHex()
	return prefix + id + "_" + secret, id, hashSecret(secret)
}

func randomHex() string {
	var b [hexLen / 2]byte
	_, _ = rand.Read(b[:]) // documented never to fail: it ends the process instead
	return hex.EncodeToString(b[:])
}

// splitToken checks the shape of a token and returns its two parts.
func splitToken(prefix, token string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(token, prefix)
	if !ok || len(rest) != 2*hexLen+1 || rest[hexLen] != '_' {
		return "", "", false
	}
	id, secret = rest[:hexLen], rest[hexLen+1:]
	return id, secret, isHex(id) && isHex(secret)
}

// IsID reports whether s has the form of the id of a token: 32 lower-case hex
// digits.
func IsID(s string) bool { return len(s) == hexLen && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

var errStaticFormat = errors.New("a master token has the form MT_{32 hex digits}_{32 hex digits}" +
	" or MT_{32 hex digits}_sha256:{64 hex digits}, in lower case")

// ParseStaticMaster reads a master token of the configuration. It is either
// the token, MT_{id}_{secret}, or carries the SHA-256 of the secret's hex text
// instead of the secret: MT_{id}_sha256:{64 hex digits}. The error never
// quotes s.
func ParseStaticMaster(s string) (id string, hash [32]byte, err error) {
	if id, secret, ok := splitToken(masterPrefix, s); ok {
		return id, hashSecret(secret), nil
	}
	rest, ok := strings.CutPrefix(s, masterPrefix)
	id, digest, cut := strings.Cut(rest, "_"+staticHashMark)
	if !ok || !cut || !IsID(id) || len(digest) != 2*len(hash) || !isHex(digest) {
		return "", hash, errStaticFormat
	}
	if _, err := hex.Decode(hash[:], []byte(digest)); err != nil {
		return "", hash, errStaticFormat
	}
	return id, hash, nil
}

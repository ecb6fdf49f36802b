package nats

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// pki is an authority, and a certificate for loopback, in files.
type pki struct{ ca, cert, key string }

func newPKI(t *testing.T) pki {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	p := pki{cert: inFile(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))}
	p.ca = p.cert
	p.key = inFile(t, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return p
}

// serverTLS has the server ask for a certificate of the same authority.
func (p pki) serverTLS(t *testing.T, verify bool) *tls.Config {
	t.Helper()
	config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: p.cert, KeyFile: p.key, CaFile: p.ca, Verify: verify})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func inFile(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// user makes the key of a user.
func user(t *testing.T) (seedFile, public string, pair nkeys.KeyPair) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return inFile(t, seed), public, pair
}

// withJWT makes a server trust an operator, and returns the credentials of a user.
func withJWT(t *testing.T) (credentials string, change func(*server.Options)) {
	t.Helper()
	key := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		pair, err := create()
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return pair, public
	}
	encode := func(claims jwt.Claims, by nkeys.KeyPair) string {
		text, err := claims.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorID := key(nkeys.CreateOperator)
	account, accountID := key(nkeys.CreateAccount)
	person, personID := key(nkeys.CreateUser)
	seed, err := person.Seed()
	if err != nil {
		t.Fatal(err)
	}
	file, err := jwt.FormatUserConfig(encode(jwt.NewUserClaims(personID), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	resolver := new(server.MemAccResolver)
	if err := resolver.Store(accountID, encode(jwt.NewAccountClaims(accountID), operator)); err != nil {
		t.Fatal(err)
	}
	return inFile(t, file), func(o *server.Options) {
		o.TrustedKeys, o.AccountResolver, o.JetStream = []string{operatorID}, resolver, false
	}
}

package embedded

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/testcheck"
)

// authority is a CA, with the files of what it issued last.
type authority struct {
	t               *testing.T
	own             *x509.Certificate
	signer          *ecdsa.PrivateKey
	dir             string
	file, cert, key string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.own = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	a.file, _, a.signer = a.write("ca", a.own, nil)
	return a
}

// issue makes a certificate for a server on 127.0.0.1.
func (a *authority) issue(name string) *ClusterTLS {
	a.t.Helper()
	a.cert, a.key, _ = a.write(name, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, a.signer)
	return &ClusterTLS{CA: a.file, Cert: a.cert, Key: a.key}
}

func (a *authority) write(name string, c *x509.Certificate, signer *ecdsa.PrivateKey) (cert, key string, pair *ecdsa.PrivateKey) {
	a.t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	if signer == nil {
		signer = pair
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.own, &pair.PublicKey, signer)
	must(a.t, err)
	secret, err := x509.MarshalECPrivateKey(pair)
	must(a.t, err)
	cert, key = filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		must(a.t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key, pair
}

// serve runs a server until the test ends.
func serve(t *testing.T, s *Server) *running {
	t.Helper()
	must(t, s.Provision(caddy.Context{}))
	r, err := start(s.options, true)
	must(t, err)
	t.Cleanup(func() { _ = r.Destruct() }) // returns nil
	return r
}

// await waits until something is so.
var await = natstest.Await

// open starts a server, and connects to it.
func open(t *testing.T, s *Server) (bucket jetstream.KeyValue, end func()) {
	t.Helper()
	must(t, s.Provision(caddy.Context{}))
	connect, release, err := s.OpenServer()
	must(t, err)
	conn, err := nats.Connect("", connect)
	must(t, err)
	js, err := jetstream.New(conn)
	must(t, err)
	bucket, err = js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
	must(t, err)
	return bucket, func() {
		t.Helper()
		conn.Close()
		noError(t, release())
	}
}

const password = "c0rrect-horse"

var must, noError = testcheck.Must, testcheck.NoError

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }

package websocket

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"
)

// link opens a connection over loopback, plain or with TLS, which is closed when
// the test ends.
func link(t testing.TB, secure bool) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if far, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	if secure {
		near = tls.Server(near, &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
		far = tls.Client(far, &tls.Config{InsecureSkipVerify: true}) // the test's own
		done := make(chan error, 1)
		go func() { done <- near.(*tls.Conn).Handshake() }()
		if err := far.(*tls.Conn).Handshake(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	return near, far
}

func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// discard reads until the connection is closed.
func discard(conn net.Conn) {
	b := make([]byte, 1<<20)
	for {
		if _, err := conn.Read(b); err != nil {
			return
		}
	}
}

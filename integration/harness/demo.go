package harness

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
)

// LeafHash is that of the certificate that the HTTPS port serves.
func (d *DevEdge) LeafHash(t *testing.T) [sha256.Size]byte {
	t.Helper()
	return LeafHash(t, d.Ports[0])
}

func LeafHash(t *testing.T, port int) [sha256.Size]byte {
	t.Helper()
	dialer := &net.Dialer{Timeout: WaitTimeout}
	conn, err := tls.DialWithDialer(dialer, "tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{
		ServerName: "localhost", InsecureSkipVerify: true, // as a browser, which compares the hash
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
}

package networks

import (
	"crypto/sha256"
	"crypto/tls"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/millrace/millrace/integration/sdk"
)

// subject is the client whose network breaks: a driver in its machine.
type subject struct {
	*sdk.Client
	*sdk.Mailbox // what it has said since it had subscribed
	end          func()
}

// startSubject starts the process of a client, until end; the client connects and subscribes.
func (l *lab) startSubject(k sdk.Kind, keepAlive time.Duration, channels []string, edges ...*edge) *subject {
	l.Helper()
	machine, root := l.network.Machine(clientMachine), l.near.RootFile()
	var cmd *exec.Cmd
	switch k.Where {
	case "go":
		cmd = machine.Command(filepath.Join(built, "sdkgo"))
	case "node":
		cmd = machine.Command("node", "clients/sdk_node.mjs")
	default: // the driver adds the environment of this process
		cmd = machine.Command("env", hostEnv+"="+k.Where, os.Args[0], "-test.run=^TestBrowserHost$")
	}
	cmd.Dir = ".."
	c := sdk.NewClient(l.T, "c", k, nil)
	driver, _, err := sdk.StartDriver(cmd, root, sdk.Limit, c.Accept, c.Fail)
	l.near.Must(err)
	c.Host = driver
	o := &sdk.Options{Token: l.token, Transports: []string{k.Transport}, KeepAlive: int(keepAlive.Milliseconds())}
	if k.Transport == "webtransport" {
		o.Transports = append(o.Transports, "websocket")
	}
	connect := sdk.Command{Cmd: "connect", Options: o}
	for _, e := range edges {
		connect.Addresses = append(connect.Addresses, e.url())
		if k.InBrowser() {
			conn, err := tls.Dial("tcp", e.IP+":8443", &tls.Config{InsecureSkipVerify: true}) // as a browser, which compares the hash
			e.Must(err)
			hash := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
			o.Hashes = append(o.Hashes, hash[:])
			_ = conn.Close()
		}
	}
	c.Must(connect)
	if r := c.Event("connected"); r.Edge != l.near.url() || r.Transport != k.Transport {
		l.Fatalf("the client is at %s over %s", r.Edge, r.Transport)
	}
	for _, channel := range channels {
		c.SubscribeAs("callback", tenant, channel, nil)
	}
	return &subject{c, c.Together(), func() {
		if err := driver.End(); err != nil {
			l.Errorf("%v: %v", k, err)
		}
	}}
}

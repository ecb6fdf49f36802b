package loadgen

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

func TestEdgeOptions(t *testing.T) {
	good := EdgeOptions{URL: "wss://edge.example.com", Tenant: "t"}
	for _, tt := range []struct {
		change func(*EdgeOptions)
		want   string // of an error, or of the URL
	}{
		{func(o *EdgeOptions) {}, "wss://edge.example.com/ws"},
		{func(o *EdgeOptions) { o.URL = "https://edge.example.com" }, "https://edge.example.com/wt"},
		{func(o *EdgeOptions) { o.URL = "wss://edge.example.com/other" }, "wss://edge.example.com/other"},
		{func(o *EdgeOptions) { o.URL, o.Insecure = "wss://[::1]:8443", true }, "wss://[::1]:8443/ws"},
		{func(o *EdgeOptions) { o.URL, o.Insecure = "https://localhost:8443", true }, "https://localhost:8443/wt"},
		{func(o *EdgeOptions) { o.URL = "http://edge.example.com" }, "url: must be ws:// or wss://"},
		{func(o *EdgeOptions) { o.URL, o.Transport = "https://edge.example.com", WebSocket }, "url: must be ws:// or wss://"},
		{func(o *EdgeOptions) { o.Transport = WebTransport }, "url: must be https:// for WebTransport"},
		{func(o *EdgeOptions) { o.Transport = "carrier" }, "transport: must be websocket or webtransport"},
		{func(o *EdgeOptions) { o.URL = "wss://user@edge.example.com" }, "url: must be like"},
		{func(o *EdgeOptions) { o.URL = "wss://edge.example.com?a=b" }, "url: must be like"},
		{func(o *EdgeOptions) { o.URL = "edge.example.com" }, "url: must be like"},
		{func(o *EdgeOptions) { o.Tenant = "a b" }, "tenant: must be a legal name"},
		{func(o *EdgeOptions) { o.Insecure = true }, "insecure: must be left out"},
		{func(o *EdgeOptions) { o.URL, o.Insecure, o.CAFile = "wss://127.0.0.1", true, "x" }, "ca: must be left out"},
		{func(o *EdgeOptions) { o.CAFile = "/nonexistent" }, "ca: "},
		{func(o *EdgeOptions) { o.CAFile = "edge_test.go" }, "ca: must be a file with a certificate"},
	} {
		o := good
		tt.change(&o)
		target, err := o.Target()
		switch {
		case err == nil && target.URL.String() != tt.want, err != nil && !strings.HasPrefix(err.Error(), tt.want):
			t.Errorf("%+v: got %v, want %q", o, err, tt.want)
		case err != nil:
			if _, got := EdgeDriver(o).Dial(t.Context()); got == nil || got.Error() != err.Error() {
				t.Errorf("%+v: Dial says %v, Target %v", o, got, err)
			}
		}
	}
}

// A rate that is a cap of the token is no measurement.
func TestAdvice(t *testing.T) {
	const frame = 1 + 2 + 1 + 2 + 10 + 4 + 128 + 2 + 2 + 10 + 32 // bytes that count for the egress cap
	for name, tt := range map[string]struct {
		scenario string
		cap      int
		rate     float64 // messages/s to each subscriber
		want     string
	}{
		"the default cap":            {Fanout, 0, 8 * 1024 / frame, "egress cap of 8 KB/s"},
		"the highest cap":            {Fanout, 0, 16384 * 1024 / frame, "egress cap of 16384 KB/s"},
		"ours":                       {Fanout, 100, 100 * 1024 / frame, "egress cap of 100 KB/s"},
		"not ours":                   {Fanout, 100, 16384 * 1024 / frame, ""},
		"the publisher's":            {Fanout, 0, 16384 * 1024 / (frame - 19), "ingress cap of 16384 KB/s"},
		"between":                    {Fanout, 0, 5000, ""},
		"a rate that is a cap":       {Latency, 0, 42, ""},
		"a rate that a cap makes":    {Latency, 0, 20 * 1024 / frame, ""},
		"rooms at their rate":        {Rooms, 23, 40 * 3, ""},
		"rooms at a cap":             {Rooms, 5, 5 * 1024 / frame, "egress cap of 5 KB/s"},
		"a rate that is not reached": {Latency, 20, 20 * 1024 / frame, "cap of 20 KB/s"},
	} {
		o := short(tt.scenario)
		o.Payload, o.Rate = 128, 40
		receivers := o.Subscribers
		if tt.scenario == Rooms {
			receivers = o.Rooms * o.Members
		}
		if tt.cap == 20 {
			o.Rate = 1000
		}
		d := EdgeDriver(EdgeOptions{URL: "ws://localhost", Tenant: "t", CapKBPerSec: tt.cap}).(Adviser)
		err := d.Advise(o, &Result{DeliveriesPerSecond: tt.rate * float64(receivers), Seconds: 1})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// The token is in no error.
func TestNoTokenInErrors(t *testing.T) {
	const token = "AT_00000000000000000000000000000001_00000000000000000000000000000002"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { // ends with its only connection
		defer close(served)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 4096)
		n, _ := conn.Read(buf)
		_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\nConnection: close\r\n\r\nno, never"))
		if !strings.Contains(string(buf[:n]), token) {
			t.Errorf("the handshake has no token: %q", buf[:n])
		}
	}()
	_, err = EdgeDriver(EdgeOptions{URL: "ws://" + listener.Addr().String(), Token: token}).Dial(t.Context())
	listener.Close()
	<-served
	var refusal *RefusedError
	if !errors.As(err, &refusal) || refusal.Status != 400 || strings.Contains(err.Error(), token) {
		t.Errorf("got %v", err)
	}
}

// The first packet passes a tunnel whose MTU is 1,280 (docs/networks.md).
func TestFirstPacketOfWebTransport(t *testing.T) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { // ends with ctx
		_, err := EdgeDriver(EdgeOptions{URL: "https://" + socket.LocalAddr().String()}).Dial(ctx)
		done <- err
	}()
	if size, _, err := socket.ReadFrom(make([]byte, 2000)); size != 1200 || err != nil {
		t.Errorf("the first packet has %d bytes, want 1200; %v", size, err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

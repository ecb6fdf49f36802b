// Sdkgo is the driver of the SDK for Go: see internal/clientdriver.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/clientdriver"
)

func main() {
	err := run(os.Stdin, os.Stdout)
	if err == nil {
		// Nobody waits for a lookup that was given up; package net lets it run for 5 s.
		var lookups []goleak.Option
		for _, name := range []string{"lookupIPAddr.func2", "goLookupIPCNAMEOrder", "tryOneName"} {
			lookups = append(lookups, goleak.IgnoreAnyFunction("net.(*Resolver)."+name))
		}
		err = goleak.Find(lookups...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdkgo:", err)
		os.Exit(1)
	}
}

// run carries out commands until the input ends, and returns when all clients have ended.
func run(in io.Reader, out io.Writer) error {
	pool := x509.NewCertPool()
	if file := os.Getenv(clientdriver.RootsVariable); file != "" {
		roots, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", clientdriver.RootsVariable, err)
		}
		pool.AppendCertsFromPEM(roots)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &driver{out: json.NewEncoder(out), tls: &tls.Config{RootCAs: pool}, ctx: ctx, clients: map[string]*driven{}}
	d.http = &http.Client{Transport: &http.Transport{TLSClientConfig: d.tls.Clone()}}
	defer d.http.CloseIdleConnections()
	defer d.work.Wait()
	defer cancel()
	d.report(clientdriver.Report{Event: "hello", Transports: []string{"webtransport", "websocket"}})
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var command clientdriver.Command
		if err := json.Unmarshal(lines.Bytes(), &command); err != nil {
			return err
		}
		d.take(command)
	}
	return lines.Err()
}

// driver runs clients of package client.
type driver struct {
	tls     *tls.Config
	http    *http.Client    // of TokenAdmins
	ctx     context.Context // ends with the input
	work    sync.WaitGroup
	clients map[string]*driven // of run

	mu  sync.Mutex
	out *json.Encoder
}

// driven carries out the commands of a client one after the other.
type driven struct {
	driver   *driver
	name     string
	commands chan clientdriver.Command
	tokens   chan clientdriver.Command // answers of the token provider
	client   *client.Client            // nil: not connected
	subs     map[string]*client.Subscription
	members  map[string]*client.Membership
	watches  map[string]*client.Presence
}

func (d *driver) report(r clientdriver.Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.out.Encode(r) // if nobody reads any more, the input ends, too
}

// take gives a command to its client.
func (d *driver) take(command clientdriver.Command) {
	c := d.clients[command.Client]
	if c == nil {
		c = &driven{
			driver: d, name: command.Client, commands: make(chan clientdriver.Command, 4096),
			tokens: make(chan clientdriver.Command, 16), subs: map[string]*client.Subscription{},
			members: map[string]*client.Membership{}, watches: map[string]*client.Presence{},
		}
		d.clients[command.Client] = c
		d.work.Go(c.run) // ends with the input
	}
	if command.Cmd != "token" {
		c.commands <- command
		return
	}
	c.tokens <- command // the client may be connecting
	c.report(clientdriver.Report{Event: "answer", ID: command.ID})
}

func (c *driven) report(r clientdriver.Report) {
	r.Client = c.name
	c.driver.report(r)
}

func (c *driven) run() {
	for {
		select {
		case command := <-c.commands:
			if command.Cmd == "drain" {
				c.drain(command)
				continue
			}
			answer := clientdriver.Report{Event: "answer", ID: command.ID}
			answer.Error = plain(c.carryOut(command, &answer))
			c.report(answer)
		case <-c.driver.ctx.Done():
			if c.client != nil {
				_ = c.client.Close() // it says no more than Err did
			}
			return
		}
	}
}

// drain answers when it is done, while other commands are carried out, such as read.
func (c *driven) drain(command clientdriver.Command) {
	drain := c.client.Drain
	if command.Sub != "" {
		drain = c.subs[command.Sub].Drain
	}
	c.driver.work.Go(func() { // ends with the input
		c.report(clientdriver.Report{Event: "answer", ID: command.ID, Error: plain(drain(c.driver.ctx))})
	})
}

// plain is an error as a report has it.
func plain(err error) *clientdriver.Error {
	if err == nil {
		return nil
	}
	var e *client.Error
	if !errors.As(err, &e) {
		return &clientdriver.Error{Text: err.Error()}
	}
	return &clientdriver.Error{
		Code: string(e.Code), Text: err.Error(), Tenant: e.Tenant, Pattern: e.Pattern, Channel: e.Channel,
		Status: e.Status, CloseCode: e.Close, Cause: plain(e.Err),
	}
}

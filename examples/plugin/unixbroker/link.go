package unixbroker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/pattern"
)

// discover dials the sockets in the folder to which there is no connection: at first
// all, then those that were there at the last look, too. A new edge dials by itself.
func (b *Broker) discover() {
	var last map[edgeID]bool
	tick := time.NewTicker(b.settings.rescan)
	defer tick.Stop()
	for {
		present := map[edgeID]bool{}
		for _, id := range b.others() {
			present[id] = true
		}
		b.mu.Lock()
		for id := range b.missing {
			if !present[id] {
				delete(b.missing, id)
				signal(b.changed)
			}
		}
		for id := range present {
			if (last == nil || last[id]) && b.peers[id] == nil && !b.dialing[id] && !b.closed {
				b.dialing[id] = true
				b.running.Go(func() { b.dial(id) })
			}
		}
		b.mu.Unlock()
		last = present
		select {
		case <-tick.C:
		case <-b.rescan:
		case <-b.ctx.Done():
			return
		}
	}
}

// dial connects to another edge, and runs the connection.
func (b *Broker) dial(id edgeID) {
	p, r, err := b.connect(id)
	if p != nil {
		b.serve(p, r)
		return
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		_ = os.Remove(b.path(id)) // its process is dead; see listen
	}
	_, statErr := os.Lstat(b.path(id))
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.dialing, id)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		delete(b.missing, id)
	case b.peers[id] == nil && !b.closed: // it has not dialled us, either
		b.missing[id] = true
		b.log.Warn("another edge cannot be reached", zap.Stringer("edge", id), zap.Error(err))
	}
	signal(b.changed)
}

func (b *Broker) connect(id edgeID) (*peer, *bufio.Reader, error) {
	ctx, cancel := context.WithTimeout(b.ctx, b.settings.silence)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", b.path(id))
	if err != nil {
		return nil, nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	r := bufio.NewReader(conn)
	_, err = conn.Write(appendHello(nil, b.id))
	if err == nil {
		err = expectHello(r, func(from edgeID) bool { return from == id })
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	p := b.register(conn, id, true)
	if p == nil {
		conn.Close()
		err = errors.New("there is a connection already, or there are too many")
	}
	return p, r, err
}

// accept takes connections until the listener is closed.
func (b *Broker) accept() {
	for {
		conn, err := b.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many open files, for example
			b.log.Error("a connection of another edge cannot be accepted", zap.Error(err))
			select {
			case <-time.After(b.settings.rescan):
			case <-b.ctx.Done():
			}
		case b.begin():
			go func() {
				defer b.running.Done()
				b.welcome(conn)
			}()
		default:
			conn.Close()
		}
	}
}

// welcome runs a connection that another edge has dialled.
func (b *Broker) welcome(conn net.Conn) {
	stop := context.AfterFunc(b.ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	_ = conn.SetDeadline(time.Now().Add(b.settings.silence))
	r := bufio.NewReader(conn)
	var id edgeID
	err := expectHello(r, func(from edgeID) bool { id = from; return true })
	stop()
	if err != nil {
		b.log.Warn("a connection was refused", zap.Error(err))
	} else if p := b.register(conn, id, false); p != nil {
		b.serve(p, r)
		return
	}
	conn.Close()
}

func expectHello(r *bufio.Reader, right func(edgeID) bool) error {
	var buf []byte
	kind, body, err := readFrame(r, &buf)
	if err != nil {
		return err
	}
	id, err := decodeHello(kind, body)
	if err == nil && !right(id) {
		err = fmt.Errorf("edge %s answers at the socket of another one", id)
	}
	return err
}

// register adds a peer, or returns nil if the connection is not wanted: two edges that
// dial each other at the same time keep the connection that the one with the lower id
// has dialled.
func (b *Broker) register(conn net.Conn, id edgeID, dialled bool) *peer {
	_ = conn.SetDeadline(time.Time{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || id == b.id || b.peers[id] != nil || len(b.peers) >= maxPeers || !dialled && b.dialing[id] && b.id < id {
		return nil
	}
	var first []byte
	if !dialled {
		first = appendHello(nil, b.id)
	}
	for in := range b.interests {
		first = appendInterest(first, kindSubscribe, in)
	}
	first = appendNumber(first, kindSync, b.number)
	p := &peer{
		id: id, conn: conn, out: newQueue(b.settings.queue, first),
		left: make(chan struct{}), interests: map[string]*pattern.Tree[struct{}]{},
	}
	b.peers[id] = p
	delete(b.dialing, id)
	return p
}

// unregister removes a peer whose connection has ended, and why.
func (b *Broker) unregister(p *peer, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.peers, p.id)
	p.setLeft()
	if !p.leaving && !b.closed {
		b.missing[p.id], b.lost = true, true
		b.log.Warn("the connection to another edge is lost", zap.Stringer("edge", p.id), zap.Error(why))
	}
	signal(b.changed)
	signal(b.rescan)
}

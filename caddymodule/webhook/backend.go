package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// backend is whom requests go to.
type backend struct {
	url    string
	key    []byte
	client *http.Client
}

const (
	maxAnswer     = 64 << 10 // bytes that are read of an answer
	maxRetryAfter = time.Minute
)

func newBackend(o options) *backend {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = o.tls
	transport.MaxIdleConnsPerHost = o.ask.maxInFlight + 1
	return &backend{
		url: o.url, key: o.key,
		client: &http.Client{
			Transport: transport,
			// A redirect would take what was signed for one URL to another.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

func (b *backend) close() { b.client.CloseIdleConnections() }

// answer is that of the backend.
type answer struct {
	status     int
	retryAfter time.Duration // zero: it names none
	body       []byte        // its first maxAnswer bytes
}

func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// unsentError is why the backend counts as not asked: the request could not be sent, or the answer is 429.
type unsentError struct{ error }

// exhausted are the errors of a machine that has no room for one more connection. Clients can cause
// them by taking that room.
var exhausted = []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM}

// markUnsent marks the error of a request that did not leave this edge as an unsentError. It compares
// texts, since a lookup of the backend's name fails with such an error's text alone.
func markUnsent(err error) error {
	if slices.ContainsFunc(exhausted, func(e error) bool { return strings.Contains(err.Error(), e.Error()) }) {
		return unsentError{err}
	}
	return err
}

// post sends a request and reads the answer. The error holds no URL, whose path may be a
// secret of the backend; it is an unsentError if the request could not be made, or this edge had no room to send it. A
// backend that cannot be reached is silent.
//
// A healthy backend closes connections that have been idle for a while, and may do so while a request is on
// its way: if one that was kept fails before the first byte of an answer, post tries once more, over a
// new one. The backend may then get a request twice, with the same id.
func (b *backend) post(ctx context.Context, id string, body []byte) (answer, error) {
	var reused, answered atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(c httptrace.GotConnInfo) { reused.Store(c.Reused) },
		GotFirstResponseByte: func() { answered.Store(true) },
	})
	a, err := b.send(traced, id, body)
	if err == nil || !reused.Load() || answered.Load() || ctx.Err() != nil {
		return a, err
	}
	b.client.CloseIdleConnections() // others may be as old
	return b.send(ctx, id, body)
}

// send is one attempt of post.
func (b *backend) send(ctx context.Context, id string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(body))
	if err != nil {
		return answer{}, unsentError{errors.New("the request cannot be made")}
	}
	now := time.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "millrace")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", signature(b.key, id, now, body))
	res, err := b.client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return answer{}, markUnsent(err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		a.retryAfter = min(time.Duration(min(seconds, 3600))*time.Second, maxRetryAfter)
	}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return a, err
}

// signature is the value of webhook-signature (Standard Webhooks, section Signature
// scheme): HMAC-SHA256 of the id, the timestamp and the body, with dots between.
func signature(key []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func newID() string { return "msg_" + rand.Text() }

// instance names this process: ids of connections are unique with it.
var instance = sync.OnceValue(rand.Text)

package nats

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/caddymodule/guest"
	kept "github.com/millrace/millrace/pubsub/history"
	history "github.com/millrace/millrace/pubsub/history/nats"
)

// troubleOf says what an error of NATS's client means, by a code and for strangers: without
// names and addresses. docs/operations.md lists the codes.
func troubleOf(err error) guest.LinkTrouble {
	for _, kind := range troubles {
		if kind.is(err) {
			return guest.LinkTrouble{Code: kind.code, Reason: kind.reason}
		}
	}
	return guest.LinkTrouble{Code: "unreachable", Reason: "NATS cannot be used"}
}

var troubles = []struct {
	code, reason string
	is           func(error) bool
}{
	{"login_refused", "NATS refuses the login: check user and password, token, nkey or credentials", func(err error) bool {
		text := strings.ToLower(err.Error()) // NATS's client makes it from what the server says
		return oneOf(nats.ErrNkeysNotSupported, nats.ErrNoUserCB)(err) || slices.ContainsFunc(
			[]error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired},
			func(login error) bool { return strings.Contains(text, login.Error()) })
	}},
	{"credentials_unreadable", "the file of nkey, credentials, or a certificate cannot be read", func(err error) bool {
		var path *fs.PathError
		return errors.As(err, &path) || strings.Contains(err.Error(), "nkeys:")
	}},
	{"stream_refused", "NATS does not make the stream of a history: check its size, replicas and servers", oneOf(history.ErrStream)},
	{"no_majority", "a stream has no leader: a majority of its servers is away", oneOf(history.ErrNoLeader)},
	{"unknown_format", "what is in NATS has a format of a newer version", oneOf(kept.ErrFormat)},
	{"definition_refused", "a history has channels of another one", oneOf(kept.ErrOverlap)},
	{"retired", "it was retired at another edge", oneOf(kept.ErrRetired)},
	{"permission_denied", "NATS denies the edge a subject: check the permissions of its user", oneOf(nats.ErrPermissionViolation)},
	{"jetstream_disabled", "JetStream is not enabled for the account, or no server of it is ready", func(err error) bool {
		return oneOf(jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount, nats.ErrNoResponders)(err)
	}},
	{"name_not_resolved", "the name of a NATS server cannot be resolved", func(err error) bool {
		var dns *net.DNSError
		return errors.As(err, &dns)
	}},
	{"connection_refused", "no NATS server listens at the address", oneOf(syscall.ECONNREFUSED)},
	{"tls_failed", "TLS with NATS fails: check ca, cert and key, and whether the server has TLS", isTLS},
	{"timeout", "NATS does not answer in time", func(err error) bool {
		var timeout net.Error
		return errors.As(err, &timeout) && timeout.Timeout() || oneOf(nats.ErrTimeout, context.DeadlineExceeded, nats.ErrStaleConnection)(err)
	}},
}

func oneOf(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return oneOf(nats.ErrSecureConnRequired, nats.ErrSecureConnWanted)(err) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) ||
		strings.Contains(err.Error(), "tls: ")
}

package nats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// roleServer has a user for each role, with the permissions of the guide.
func roleServer(t *testing.T, bucket string, options ...func(*server.Options)) *server.Server {
	t.Helper()
	stream := "KV_" + bucket
	reader := []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.DELETE." + stream + ".>", "$JS.FC." + stream + ".>", "$JS.FC.*.*." + stream + ".>",
	}
	return natstest.Server(t, func(o *server.Options) {
		for _, option := range options {
			option(o)
		}
		for name, publish := range map[string][]string{
			"reader": reader,
			"issuer": append(slices.Clone(reader), "$KV."+bucket+".1.>", "$KV."+bucket+".3.>"),
			"manager": append(slices.Clone(reader), "$KV."+bucket+".>",
				"$JS.API.INFO", "$JS.API.STREAM.CREATE."+stream, "$JS.API.STREAM.PURGE."+stream),
		} {
			o.Users = append(o.Users, &server.User{Username: name, Password: "p", Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: publish},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_" + name + ".>"}},
			}})
		}
		o.Users = append(o.Users, &server.User{Username: "operator", Password: "p"})
	})
}

func connectAs(s *server.Server, name string) natstest.Connector {
	return func(o ...client.Option) (*client.Conn, error) {
		return natstest.Connect(s)(append(o, client.UserInfo(name, "p"), client.CustomInboxPrefix("_INBOX_"+name))...)
	}
}

func withRole(r Role) func(*Config) { return func(c *Config) { c.Role = r } }

// A reader gets a large bucket, for which NATS asks it for flow control, in both forms of
// NATS' subjects for that.
func TestFlowControlOfReaders(t *testing.T) {
	for name, secondForm := range map[string]bool{"first form": false, "second form": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := roleServer(t, "tokens", func(o *server.Options) {
				o.FeatureFlags = map[string]bool{server.FeatureFlagJsAckFormatV2: secondForm}
			})
			manager := openStore(t, connectAs(s, "manager"))
			awaitReady(t, manager)
			large, asked := bytes.Repeat([]byte("x"), 32<<10), make(chan *client.Msg, 100)
			var last tokenstore.Record
			for i := range 200 {
				last = create(t, manager, tokenstore.Record{Kind: master, ID: fmt.Sprint("m", i), Value: large})
			}
			operator, err := connectAs(s, "operator")()
			must(t, err)
			defer operator.Close()
			must(t, errorOf(operator.ChanSubscribe("$JS.FC.>", asked)))
			must(t, operator.Flush())
			reader := openStore(t, connectAs(s, "reader"), withRole(Reader))
			awaitReady(t, reader)
			await(t, "the last record", func() bool { return has(t, reader, last) })
			answer := natstest.Receive(t, "an answer to flow control", asked)
			if second := strings.HasPrefix(answer.Subject, "$JS.FC._."); second != secondForm {
				t.Errorf("answered on %s", answer.Subject)
			}
		})
	}
}

// Roles hold in the store itself, and none asks for what its permissions deny.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := roleServer(t, "tokens")
	reader, issuer := openStore(t, connectAs(s, "reader"), withRole(Reader)), openStore(t, connectAs(s, "issuer"), withRole(Issuer))
	awaitLog(t, reader, "the bucket", "not found") // it is not made by them
	manager := openStore(t, connectAs(s, "manager"))
	stores := []testStore{reader, issuer, manager}
	for _, store := range stores {
		awaitReady(t, store)
	}
	everywhere := func(rec tokenstore.Record) {
		t.Helper()
		for _, store := range stores {
			await(t, "all stores to have "+rec.ID, func() bool { return has(t, store, rec) })
		}
	}
	secret := create(t, manager, tokenstore.Record{Kind: master, ID: "m", Value: []byte("master")})
	everywhere(secret)
	token := create(t, issuer, record("a", "x"))
	everywhere(token)
	token = update(t, issuer, token, "y")
	everywhere(token)

	closing := create(t, issuer, tokenstore.Record{Kind: tokenstore.KindClosing, ID: "s", Value: []byte("x")})
	everywhere(closing)
	remove(t, issuer, update(t, issuer, closing, "y"))

	for _, c := range []struct {
		store testStore
		rec   tokenstore.Record
	}{{reader, token}, {reader, secret}, {issuer, secret}} {
		_, create := c.store.Create(t.Context(), tokenstore.Record{Kind: c.rec.Kind, ID: "new"})
		_, update := c.store.Update(t.Context(), c.rec)
		for what, err := range map[string]error{
			"Create": create, "Update": update, "Delete": c.store.Delete(t.Context(), c.rec.Kind, c.rec.ID, c.rec.Version),
		} {
			wantErr(t, what, err, tokenstore.ErrReadOnly, "does not change "+c.rec.Kind.String()+" tokens")
		}
		everywhere(c.rec)
	}
	changes := watch(t, reader)
	remove(t, issuer, token)
	if c := nextOf(t, changes, "a"); !c.Deleted {
		t.Errorf("the reader sees %+v", c)
	}
	for _, store := range stores {
		noError(t, store.Close())
		if got := logText(store.logs); strings.Contains(strings.ToLower(got), "permission") {
			t.Errorf("a store was denied something:\n%s", got)
		}
	}
}

// What an edge of each role can do with its credentials when it is taken over, by
// the ways that are known: none makes a master token, and only an issuer makes
// access tokens.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	s := roleServer(t, "tokens")
	operator, err := natstest.Connect(s)(client.UserInfo("operator", "p"))
	must(t, err)
	defer operator.Close()
	js, err := jetstream.New(operator)
	must(t, err)
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "tokens", History: 1})
	must(t, err)
	must(t, errorOf(kv.Put(t.Context(), "2.real", encoded("real"))))
	victim := openReady(t, connectAs(s, "manager"))

	for _, name := range []string{"reader", "issuer"} {
		var denials atomic.Int64
		foe, err := connectAs(s, name)(client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) {
			if errors.Is(err, client.ErrPermissionViolation) {
				denials.Add(1)
			}
		}))
		must(t, err)
		defer foe.Close()
		denied := func(subject, reply string, data any) {
			t.Helper()
			before := denials.Load()
			body, err := json.Marshal(data)
			must(t, err)
			must(t, foe.PublishRequest(subject, reply, body))
			await(t, subject+" is denied to "+name, func() bool { return denials.Load() > before })
		}
		forged := encoded("forged")
		writes := name == "issuer"
		if writes {
			must(t, errorOf(foe.Request("$KV.tokens.1.forged", forged, natstest.Limit)))
		} else {
			denied("$KV.tokens.1.forged", foe.NewInbox(), "x")
		}
		denied("$KV.tokens.2.forged", foe.NewInbox(), "x")
		for _, call := range []string{
			"STREAM.CREATE.KV_tokens", "STREAM.CREATE.other", "STREAM.UPDATE.KV_tokens", "STREAM.DELETE.KV_tokens", "STREAM.PURGE.KV_tokens",
			"STREAM.MSG.DELETE.KV_tokens", "STREAM.RESTORE.KV_tokens", "STREAM.LIST", "CONSUMER.LIST.KV_tokens",
		} {
			denied("$JS.API."+call, foe.NewInbox(), map[string]any{})
		}
		// JetStream itself would write what these two answer with to a master's key.
		denied("$JS.API.DIRECT.GET.KV_tokens", "$KV.tokens.2.forged", map[string]string{"last_by_subj": "$KV.tokens.1.forged"})
		denied("$JS.API.CONSUMER.MSG.NEXT.KV_tokens.c", "$KV.tokens.2.forged", map[string]int{"batch": 1})
		// And so would a consumer, which each edge has to be able to make.
		for i, to := range []string{"$KV.tokens.2.forged", "$JS.API.STREAM.PURGE.KV_tokens"} {
			consumer := fmt.Sprintf("%s%d", name, i)
			body, err := json.Marshal(map[string]any{"stream_name": "KV_tokens", "config": map[string]any{
				"name": consumer, "deliver_subject": to, "filter_subject": "$KV.tokens.1.forged", "ack_policy": "none",
			}})
			must(t, err)
			answer, err := foe.Request("$JS.API.CONSUMER.CREATE.KV_tokens."+consumer+".$KV.tokens.1.forged", body, natstest.Limit)
			must(t, err)
			if i == 0 && !strings.Contains(string(answer.Data), "forms a cycle") {
				t.Errorf("a consumer that writes to the bucket: %s", answer.Data)
			}
		}
		for _, subject := range []string{"_INBOX.>", "_INBOX_manager.>", "$KV.>", ">"} {
			before := denials.Load()
			must(t, errorOf(foe.SubscribeSync(subject)))
			await(t, "subscribing to "+subject+" is denied", func() bool { return denials.Load() > before })
		}
		// An answer of JetStream's can be sent to a master's key, and is no record.
		must(t, foe.PublishRequest("$JS.API.STREAM.MSG.GET.KV_tokens", "$KV.tokens.2.answer", []byte(`{"seq":1}`)))
		await(t, "the answer is in the bucket, as NATS has it", func() bool {
			_, err := kv.Get(t.Context(), "2.answer")
			return err == nil
		})
	}
	create(t, victim, record("mark", "x"))
	for _, rec := range mustAll(t, victim) {
		if rec.Kind == master && rec.ID != "real" {
			t.Errorf("there is a master token %s", rec.ID)
		}
	}
	if e, err := kv.Get(t.Context(), "2.real"); err != nil || !bytes.Equal(e.Value(), encoded("real")) {
		t.Errorf("the real one: %v", err)
	}
	wantErr(t, "the forged one", errorOf(kv.Get(t.Context(), "2.forged")), jetstream.ErrKeyNotFound)
	if _, err := victim.Get(t.Context(), access, "forged"); err != nil {
		t.Errorf("what the issuer wrote: %v", err)
	}
}

// encoded is a value that a store reads as a record's.
func encoded(value string) []byte { return append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, value...) }

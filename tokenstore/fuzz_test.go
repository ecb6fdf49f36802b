package tokenstore

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
)

// Whatever stands in a store can be read or is refused; what can be read says the
// same when it is written again, and no right that comes of it panics.
func FuzzAccessRecord(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, ``, `{"secret_sha256":"00"}`,
		`{"secret_sha256":"` + string(bytes.Repeat([]byte("ab"), 32)) + `","master_id":"x","created_by":"a","created_at":"2030-01-01T00:00:00Z","expires_at":"2030-01-01T01:00:00Z","right":{"tenant_grants":[{"tenant_ids":["a.b","a.c"],"allow_channels_pub":["a.(b|c*).#"],"allow_channels_sub":["?.>"]}],"allow_ip_masks":["10.0.0.0/8"],"allowed_ws_origin":["https://a.b"],"ingress_kb_per_sec":8}}`,
		`{"revoked_at":"2030-01-01T00:00:00Z","right":{"tenant_grants":[{"tenant_ids":[]},{}],"allow_ip_masks":["x"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		rec := Record{Kind: KindAccess, ID: "0123456789abcdef0123456789abcdef", Value: value, Version: 1}
		eventOf(Change{Record: rec})
		var token indexedToken
		master, indexed := token.readFields(rec)
		var r accessRecord
		if decode(rec, &r) != nil {
			return
		}
		if !indexed {
			t.Fatal("a record that can be read is not indexed")
		}
		if master != r.MasterID {
			t.Fatalf("the index has master %q, the record %q", master, r.MasterID)
		}
		if token.subject != r.Subject {
			t.Fatalf("the index has subject %q, the record %q", token.subject, r.Subject)
		}
		text := token.commonPrefix.Value()
		for i := range len(text) + 1 {
			if !manages(text[:i], &r.Right) {
				t.Fatalf("the index has all tenants begin with %q", text[:i])
			}
		}
		again, err := r.encode(rec.ID, 1)
		if err != nil {
			return // a time that JSON cannot say
		}
		var second accessRecord
		if err := decode(again, &second); err != nil {
			t.Fatalf("%s is written as %s, which cannot be read", value, again.Value)
		}
		third, err := second.encode(rec.ID, 1)
		if err != nil || !bytes.Equal(again.Value, third.Value) {
			t.Fatalf("%s is written as %s, and then as %s (%v)", value, again.Value, third.Value, err)
		}
		access, err := compile(rec.ID, 1, &r)
		if err != nil {
			return
		}
		p, err := pattern.Parse("a.b.>")
		if err != nil {
			t.Fatal(err)
		}
		_ = access.CanPublish([]byte("a.b"), []byte("a.b.c"))
		_ = access.CanSubscribe("a.b", p)
		_ = access.CheckConnection(Connection{IP: netip.MustParseAddr("10.1.2.3"), Origins: []string{"https://a.b"}})
		r.info(rec.ID, time.Now())
	})
}

func FuzzMasterRecord(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"a","tenant_prefix":"paint.","allow_ip_masks":["10.0.0.0/8"],"max_tokens":5,"max_bytes":-1,"calls_per_second":1e3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		var r masterRecord
		if decode(Record{Kind: KindMaster, ID: "x", Value: value}, &r) != nil {
			return
		}
		m := r.master("x")
		_ = m.withDefaults(Quota{MaxTokens: 1})
		again, err := r.encode("x", 1)
		if err != nil {
			return
		}
		var second masterRecord
		if err := decode(again, &second); err != nil {
			t.Fatalf("%s is written as %s, which cannot be read", value, again.Value)
		}
	})
}

// FuzzOrigin: what is accepted is a fixed point, so equal origins are equal
// strings.
func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"null", "File://", "https://A.example:443", "http://[::1]:80", "x+y://a_b.c:9", "https://", "https://a/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		norm, ok := normalizeOrigin(s)
		if !ok {
			return
		}
		if again, ok := normalizeOrigin(norm); !ok || again != norm {
			t.Errorf("%q gives %q, which gives %q, %v", s, norm, again, ok)
		}
	})
}

// FuzzExpiry: what is accepted is in range, and its answer is accepted again
// as the same time.
func FuzzExpiry(f *testing.F) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 1, time.UTC)
	for _, s := range []string{"2030-01-01T13:00:00Z", "2030-01-01t13:00:00.5+01:00", "2030-01-02T12:00:00-00:00", "2030-01-01T1:00:00Z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end, err := parseExpiry("p", s, now)
		if err != nil {
			return
		}
		if !end.After(now) || end.After(now.Add(MaxLifetime)) || end.Nanosecond() != 0 {
			t.Errorf("%q gives %v", s, end)
		}
		if again, err := parseExpiry("p", end.Format(time.RFC3339), now); err != nil || !again.Equal(end) {
			t.Errorf("%q gives %v, which gives %v, %v", s, end, again, err)
		}
	})
}

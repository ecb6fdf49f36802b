package client

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/millrace/millrace/wire"
)

type vector struct {
	Comment string
	Input   struct{ Hex string }
	Expect  struct {
		Tenant, Channel string
		Payload         string `json:"payload_hex"`
		Patterns        []string
		Position        string
		Sender          string
		ToOne           bool    `json:"to_one"`
		Key             *string `json:"key_hex"`
		Error           string
		Ignored         bool
	}
}

func vectors(t testing.TB) []vector {
	t.Helper()
	var all []vector
	for _, file := range []string{"deliver.json", "deliver_own.json"} {
		text, err := os.ReadFile("../wire/testdata/" + file)
		must(t, err)
		var list []vector
		must(t, json.Unmarshal(text, &list))
		all = append(all, list...)
	}
	return all
}

func (v vector) frame(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Input.Hex)
	must(t, err)
	return b
}

// same compares a decoder, fresh or not, with the codec.
func same(t *testing.T, dec *decoder, frame []byte) {
	t.Helper()
	got, err := dec.decode(frame)
	want, wrong := wire.DecodeDeliver(frame)
	switch {
	case (err != nil) != (wrong != nil):
		t.Fatalf("%x: got %v, want %v", frame, err, wrong)
	case err != nil:
	case got.tenant != string(want.Tenant) || got.channel != string(want.Channel) ||
		string(got.payload) != string(want.Payload) || !reflect.DeepEqual(got.patterns, want.Patterns) ||
		got.stored != want.Stored || got.position != want.Position || got.sender != string(want.Sender) || got.toOne != want.ToOne || got.own != want.Own || got.key != string(want.Key):
		t.Fatalf("%x: got %+v, want %+v", frame, got, want)
	}
}

func TestDecode(t *testing.T) {
	shared := newDecoder()
	for range 2 { // the second time from memory
		for _, v := range vectors(t) {
			frame := v.frame(t)
			got, err := newDecoder().decode(frame)
			if (err != nil) != (v.Expect.Error != "") {
				t.Errorf("%s: got %v", v.Comment, err)
			}
			if err == nil && (got.toOne != v.Expect.ToOne || got.own != (v.Expect.Key != nil) || got.own && hex.EncodeToString([]byte(got.key)) != *v.Expect.Key || got.tenant != v.Expect.Tenant || got.channel != v.Expect.Channel ||
				hex.EncodeToString(got.payload) != v.Expect.Payload || !reflect.DeepEqual(got.patterns, v.Expect.Patterns) ||
				got.stored != (v.Expect.Position != "") || got.stored && got.position.String() != v.Expect.Position || got.sender != v.Expect.Sender) {
				t.Errorf("%s: got %+v", v.Comment, got)
			}
			same(t, shared, frame)
			for n := range min(len(frame), 200) {
				same(t, shared, frame[:n])
			}
		}
	}
}

// Names that never come again do not fill the memory.
func TestDecodeForgets(t *testing.T) {
	dec := newDecoder()
	for i := range 5 * maxNames {
		n := strconv.Itoa(i)
		same(t, dec, wire.AppendDeliver(nil, []byte("t"+n), []byte("c"+n), []byte("p"), []string{"#", n}))
		same(t, dec, senderFrame("s"+n, "c", "p", nil))
	}
	if len(dec.senders) > maxNames || len(dec.tenants) > maxNames || len(dec.channel) > maxNames || len(dec.lists) > maxNames {
		t.Errorf("remembers %d senders, %d tenants, %d channels and %d lists", len(dec.senders), len(dec.tenants), len(dec.channel), len(dec.lists))
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.frame(f), v.frame(f))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		dec := newDecoder()
		for _, frame := range [][]byte{a, b, a} {
			same(t, dec, frame)
		}
	})
}

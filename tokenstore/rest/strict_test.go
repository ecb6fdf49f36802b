package rest

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

type embedded struct {
	Base string `json:"base"`
}

type sample struct {
	embedded
	S     string    `json:"s"`
	N     int       `json:"n,omitempty"`
	U     uint64    `json:"u,omitempty"`
	B     bool      `json:"b"`
	P     *int      `json:"p"`
	L     []string  `json:"l"`
	PL    *[]string `json:"pl"`
	O     sub       `json:"o"`
	Os    []sub     `json:"os"`
	E     string    `json:"e" empty:"refused"`
	Quiet string    `json:"-"`
	Plain string
}

type sub struct {
	X string `json:"x"`
}

func TestDecodeStrict(t *testing.T) {
	seven := 7
	for _, test := range []struct {
		name, in string
		want     sample
	}{
		{"empty object", ` {} `, sample{}},
		{"all", `{"base":"b","s":"é\ud83d\ude00\\ud800","n":-3,"u":18446744073709551615,"b":true,"p":7,"l":["a",""],"pl":[],"o":{"x":"1"},"os":[{"x":"2"},{}]}`,
			sample{embedded: embedded{"b"}, S: "é😀\\ud800", N: -3, U: math.MaxUint64, B: true, P: &seven, L: []string{"a", ""}, PL: &[]string{},
				O: sub{"1"}, Os: []sub{{"2"}, {}}}},
		{"null is omitted", "{\"s\":null,\"n\": null,\"p\":\n null,\"l\":\tnull,\"pl\":null,\"o\":null,\"os\":null,\"b\":null}", sample{}},
		{"spaces", "\r\n\t{ \"o\" : { \"x\" : \"1\" } , \"os\" : [ { } , { \"x\" : null } ] , \"l\" : [ \"a\" , \"b\" ] , \"p\" : 7 }\n",
			sample{O: sub{"1"}, Os: []sub{{}, {}}, L: []string{"a", "b"}, P: &seven}},
		{"escaped key", `{"\u0073":"v"}`, sample{S: "v"}},
		{"empty or not", `{"s":"","e":"v"}`, sample{E: "v"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got sample
			must(t, DecodeStrict([]byte(test.in), &got))
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestDecodeStrictRefuses(t *testing.T) {
	for _, test := range []struct{ name, in, path, reason string }{
		{"nothing", "", "body", "empty"},
		{"a value that was lost", `{"s":"","e":""}`, "e", "is empty; omit it instead"},
		{"spaces", " \r\n\t", "body", "empty"},
		{"byte order mark", "\xef\xbb\xbf{}", "body", "byte order mark"},
		{"UTF-16", "{\x00}\x00", "body", "syntax error at byte 2"},
		{"invalid UTF-8", "{\"s\":\"s3cret\xff\"}", "body", "UTF-8"},
		{"encoded surrogate", "{\"s\":\"\xed\xa0\x80\"}", "body", "UTF-8"},
		{"high surrogate", `{"s":"\ud800"}`, "body", "surrogate pair in a \\u escape at byte 7"},
		{"high surrogate, then a letter", `{"s":"\ud800a"}`, "body", "surrogate"},
		{"high surrogate, then another escape", `{"s":"\ud800\u0041"}`, "body", "surrogate"},
		{"two high surrogates", `{"s":"\ud800\ud800"}`, "body", "surrogate"},
		{"low surrogate", `{"s":"\uDC00"}`, "body", "surrogate"},
		{"low before high", `{"s":"\udc00\ud800"}`, "body", "surrogate"},
		{"surrogate behind a backslash", `{"s":"\\\ud800"}`, "body", "surrogate"},
		{"surrogate in a key", `{"\ud800":1}`, "body", "surrogate"},
		{"syntax", `{"s":s3cret}`, "body", "syntax error at byte 6"},
		{"cut off", `{"s":"s3cret"`, "body", "syntax error"},
		{"trailing comma", `{"s":"s3cret",}`, "body", "syntax error"},
		{"comment", `{/*s3cret*/}`, "body", "syntax error"},
		{"trailing object", `{} {}`, "body", "syntax error at byte 4"},
		{"trailing garbage", `{}s3cret`, "body", "syntax error"},
		{"null", `null`, "body", "object"},
		{"list", `[{"s":"s3cret"}]`, "body", "object"},
		{"string", `"s3cret"`, "body", "object"},
		{"unknown key", `{"allow_tenants-2":1}`, "body", `unknown key "allow_tenants-2"; allowed: base, s, n, u, b, p, l, pl, o, os`},
		{"unknown null key", `{"null":null}`, "body", `unknown key "null"`},
		{"secret as a key", `{"s3cret0123456789abcdef0123456789":1}`, "body", "unknown key; allowed: base"},
		{"text as a key", `{"s3cret to \u0000 nobody":1}`, "body", "unknown key; allowed: base"},
		{"wrong case", `{"S":"s3cret"}`, "body", "unknown key"},
		{"field without tag", `{"Plain":"s3cret"}`, "body", "unknown key"},
		{"hidden field", `{"Quiet":"s3cret"}`, "body", "unknown key"},
		{"embedded struct's name", `{"embedded":{}}`, "body", "unknown key"},
		{"unknown key inside", `{"os":[{},{"y":"s3cret"}]}`, "os[1]", `unknown key "y"; allowed: x`},
		{"duplicate", `{"s":"a","s":"s3cret"}`, "s", "more than once"},
		{"duplicate by escape", `{"s":"a","\u0073":"s3cret"}`, "s", "more than once"},
		{"duplicate of null", `{"s":null,"s":"s3cret"}`, "s", "more than once"},
		{"duplicate inside", `{"o":{"x":"a","x":"s3cret"}}`, "o.x", "more than once"},
		{"number for string", `{"s":5}`, "s", "a string"},
		{"string for integer", `{"n":"5"}`, "n", "an integer"},
		{"fraction", `{"n":5.0}`, "n", "an integer"},
		{"exponent", `{"n":5e0}`, "n", "an integer"},
		{"too large", `{"p":9223372036854775808}`, "p", "an integer"},
		{"negative", `{"u":-1}`, "u", "an integer from 0 on"},
		{"number for boolean", `{"b":1}`, "b", "true or false"},
		{"string for list", `{"l":"s3cret"}`, "l", "a list"},
		{"object for list", `{"pl":{}}`, "pl", "a list"},
		{"list for object", `{"o":[]}`, "o", "an object"},
		{"null in a list", `{"l":["a",null]}`, "l[1]", "a string"},
		{"null object in a list", `{"os":[null]}`, "os[0]", "an object"},
		{"number in a list", `{"l":["a",["s3cret"]]}`, "l[1]", "a string"},
		{"deep nesting", `{"l":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "l[0]", "a string"},
		{"nesting bomb", strings.Repeat("[", MaxBody), "body", "syntax error"},
		{"nesting bomb of objects", strings.Repeat(`{"o":`, MaxBody/5), "body", "syntax error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := DecodeStrict([]byte(test.in), new(sample))
			var invalid *tokenstore.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an InvalidError", err)
			}
			if invalid.Path != test.path || !strings.Contains(invalid.Reason, test.reason) || invalid.Code != "invalid_body" {
				t.Errorf("got %+v, want %q at %s", *invalid, test.reason, test.path)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error quotes the input: %v", err)
			}
		})
	}
}

// What DecodeStrict accepts, encoding/json accepts with the same result.
func FuzzDecodeStrict(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"s":"a","n":1,"p":2,"l":["x"],"o":{"x":"y"},"os":[{}]}`, `{"s":null}`, `{"s":"\ud83d\ude00"}`,
		`{"s":"\ud800"}`, "\xef\xbb\xbf{}", `{"l":[null]}`, `{"s":"a","s":"b"}`, `[[[[`, ` {"pl" : [ ] } `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want sample
		if DecodeStrict(data, &got) != nil {
			return
		}
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("DecodeStrict accepts %q, encoding/json: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", data, got, want)
		}
	})
}

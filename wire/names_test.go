package wire

import (
	"regexp"
	"strings"
	"testing"
)

type validName struct {
	Valid bool `json:"valid"`
}

func checkName(kind string, name []byte) error {
	if kind == "tenant" {
		return CheckTenant(name)
	}
	return CheckChannel(name)
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range load[validName](t, "names.json") {
		t.Run(v.Kind+"/"+v.Comment, func(t *testing.T) {
			if v.Kind != "tenant" && v.Kind != "channel" {
				t.Fatalf("kind %q", v.Kind)
			}
			if v.Expect.Fields.Valid == (v.Expect.Error != "") {
				t.Fatal("a case expects either valid or an error")
			}
			seen[v.Kind+string(v.Expect.Error)] = true
			sameError(t, checkName(v.Kind, v.Input), v.Expect.Error)
		})
	}
	for _, want := range []string{"tenant", "tenantbad_tenant", "channel", "channelbad_channel"} {
		if !seen[want] {
			t.Errorf("no case of %s", want)
		}
	}
}

func TestNameByte(t *testing.T) {
	for c := range 256 {
		want := strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~@", rune(c))
		if got := NameByte(byte(c)); got != want {
			t.Errorf("NameByte(%q) = %v, want %v", rune(c), got, want)
		}
	}
}

func TestNamesAllocateNothing(t *testing.T) {
	tenant, channel := []byte("paint.eu"), []byte("chat.room-7.@ann")
	badTenant, badChannel := []byte("a b"), []byte("a..b")
	noAllocs(t, "names as bytes", func() {
		if CheckTenant(tenant) != nil || CheckChannel(channel) != nil {
			t.Error("legal names refused")
		}
		if CheckTenant(badTenant) == nil || CheckChannel(badChannel) == nil {
			t.Error("illegal names accepted")
		}
	})
	noAllocs(t, "names as strings", func() {
		if CheckTenant("paint.eu") != nil || CheckChannel("chat.room-7") != nil {
			t.Error("legal names refused")
		}
	})
}

// The definition in other words.
var (
	tenantDefinition  = regexp.MustCompile(`\A[a-zA-Z0-9_~@.-]{1,128}\z`)
	channelDefinition = regexp.MustCompile(`\A[a-zA-Z0-9_~@-]+(\.[a-zA-Z0-9_~@-]+){0,31}\z`)
)

func FuzzNames(f *testing.F) {
	for _, v := range load[validName](f, "names.json") {
		f.Add([]byte(v.Input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := string(b)
		tenant, channel := tenantDefinition.MatchString(s), len(s) <= 256 && channelDefinition.MatchString(s)
		if err := CheckTenant(b); (err == nil) != tenant || err != CheckTenant(s) {
			t.Errorf("CheckTenant(%q) = %v, as a string %v; the definition says %v", b, err, CheckTenant(s), tenant)
		}
		if err := CheckChannel(b); (err == nil) != channel || err != CheckChannel(s) {
			t.Errorf("CheckChannel(%q) = %v, as a string %v; the definition says %v", b, err, CheckChannel(s), channel)
		}
	})
}

func TestIsSender(t *testing.T) {
	for sender, want := range map[string]bool{
		"": true, "ann": true, "Ännchen 😀 نص": true, "\ufeff ann ": true, "\ufffd": true, "{\"a\":1}": true,
		strings.Repeat("u", MaxSender): true, strings.Repeat("ü", MaxSender/2): true,
		strings.Repeat("u", MaxSender+1): false, strings.Repeat("ü", MaxSender/2) + "u": false,
		"a\x00": false, "a\nb": false, "\x1f": false, "\x7f": false, "\u0080": false, "\u009f": false,
		"\x80": false, "a\xff": false, "\xc3": false, "\xed\xa0\x80": false, "\xc0\xaf": false,
	} {
		if got := IsSender([]byte(sender)); got != want {
			t.Errorf("IsSender(%q) = %v, want %v", sender, got, want)
		}
	}
	sender := []byte(strings.Repeat("ü", MaxSender/2))
	noAllocs(t, "a sender", func() { IsSender(sender) })
}

package client

import (
	"errors"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"https://Edge.example":         {origin: "https://edge.example"},
		"https://edge.example/":        {origin: "https://edge.example"},
		"https://edge.example:8443":    {origin: "https://edge.example:8443"},
		"https://edge.example/edges":   {origin: "https://edge.example", list: "https://edge.example/edges"},
		"https://[2001:db8::1]:8443/e": {origin: "https://[2001:db8::1]:8443", list: "https://[2001:db8::1]:8443/e"},
		"http://localhost:8080":        {origin: "http://localhost:8080"},
		"http://a.localhost":           {origin: "http://a.localhost"},
		"http://127.8.9.1":             {origin: "http://127.8.9.1"},
		"http://[::1]:80":              {origin: "http://[::1]:80"},
		"http://edge.example":          {},
		"http://localhost.example":     {},
		"http://10.0.0.1":              {},
		"ws://localhost":               {},
		"wss://edge.example":           {},
		"edge.example":                 {},
		"https://":                     {},
		"https://:443":                 {},
		"https://u:p@edge.example":     {},
		"https://edge.example?a=AT_x":  {},
		"https://edge.example/#a":      {},
		"https://edge.example/%zz":     {},
	} {
		got, err := parseAddress(text, false)
		if got != want || (err != nil) != (want == address{}) || err != nil && !errors.Is(err, ErrBadOption) {
			t.Errorf("%s: got %+v %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "AT_x") {
			t.Errorf("the error repeats the address: %v", err)
		}
	}
	if a, err := parseAddress("http://edge.example", true); err != nil || a.origin != "http://edge.example" {
		t.Errorf("got %+v %v", a, err)
	}
	for origin, want := range map[string]string{
		"https://a": "a:443", "http://a": "a:80", "https://a:1": "a:1", "https://[::1]": "[::1]:443", "https://[::1]:1": "[::1]:1",
	} {
		if got := hostPort(origin); got != want {
			t.Errorf("%s: got %s, want %s", origin, got, want)
		}
	}
	if got := hostName("https://[::1]"); got != "::1" {
		t.Errorf("got %s", got)
	}
}

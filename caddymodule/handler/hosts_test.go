package handler

import "testing"

func TestAllowedHost(t *testing.T) {
	for _, c := range []struct {
		list  []string
		host  string
		allow bool
	}{
		{nil, "edge.example.com", false},
		{[]string{"edge.example.com"}, "edge.example.com", true},
		{[]string{"a.example.com", "Edge.Example.com"}, "eDGE.example.com:443", true},
		{[]string{"edge.example.com:443"}, "edge.example.com", true},
		{[]string{"edge.example.com"}, "edge.example.com:8443", false},
		{[]string{"edge.example.com:8443"}, "edge.example.com", false},
		{[]string{"edge.example.com"}, "edge.example.com.evil.net", false},
		{[]string{"edge.example.com"}, "evil-edge.example.com", false},
		{[]string{"*.example.com"}, "edge.example.com", true},
		{[]string{"*.example.com"}, "example.com", false},
		{[]string{"*.example.com"}, "a.edge.example.com", false},
		{[]string{"*.example.com"}, "edge.example.com:8443", false},
		{[]string{"*.example.com:8443"}, "edge.example.com:8443", true},
		{[]string{"*.example.com"}, "edge.evil.com", false},
		{[]string{"*.example.com"}, "*.example.com", true}, // no host: guest.CheckHost has refused it
		{[]string{"10.0.0.1"}, "10.0.0.1", true},
		{[]string{"[::1]:8443"}, "[::1]:8443", true},
		{[]string{"[2001:db8::5]:443"}, "2001:db8::5", true},
		{[]string{"2001:db8::5"}, "[2001:DB8::5]:443", true},
		{[]string{"2001:db8::5"}, "2001:db8::5:443", false}, // an address of its own
	} {
		if got := allowedHost(c.list, c.host); got != c.allow {
			t.Errorf("%q, %s: %v", c.list, c.host, got)
		}
	}
}

func TestCheckAllowedHost(t *testing.T) {
	for text, good := range map[string]bool{
		"edge.example.com": true, "localhost:8443": true, "10.0.0.1": true, "[::1]:8443": true, "*.example.com": true, "*.example.com:8443": true,
		"": false, "*": false, "*.": false, "*.com": false, "*.10.0.0.1": false, "*.*.example.com": false, "edge.*.com": false,
		"https://edge.example.com": false, "edge.example.com/": false, "edge.example.com:0": false, "*example.com": false, "*.[::1]": false,
	} {
		if err := checkAllowedHost(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

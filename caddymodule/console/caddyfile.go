package console

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
)

// UnmarshalBlock sets up the console from the block of its directive; the dispenser is at
// the last word before it. No error quotes a hash. Syntax:
//
//	pubsub_console [@matcher] [<path>] {        # /console
//		operator <name> <hash> viewer|manager   # with auth operators
//		operator <user> viewer|manager          # with auth caddy
//		auth     operators|caddy
//		tail     on|off
//		live_url <origin>
//	}
func (c *Console) UnmarshalBlock(d *caddyfile.Dispenser) error {
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] && option != "operator" {
			return d.Errf("%s is given twice", option)
		}
		seen[option] = true
		var err error
		switch option {
		case "operator":
			err = c.unmarshalOperator(d)
		case "auth":
			c.Auth, err = oneOf(d, authOperators, authCaddy)
		case "tail":
			c.Tail, err = oneOf(d, "on", "off")
		case "live_url":
			c.LiveURL, err = args.One(d)
		default:
			err = d.Errf("unknown option %s of pubsub_console; allowed: operator, auth, tail, live_url", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Console) unmarshalOperator(d *caddyfile.Dispenser) error {
	given := d.RemainingArgs()
	switch len(given) {
	case 2:
		c.Operators = append(c.Operators, Operator{Name: given[0], Role: Role(given[1])})
	case 3:
		c.Operators = append(c.Operators, Operator{Name: given[0], Hash: given[1], Role: Role(given[2])})
	default:
		return d.Err("operator: must be `operator <name> <hash> viewer|manager`, or with auth caddy `operator <user> viewer|manager`")
	}
	return nil
}

// oneOf parses an argument that must be one of a few words.
func oneOf(d *caddyfile.Dispenser, allowed ...string) (string, error) {
	option := d.Val()
	given := strings.Join(d.RemainingArgs(), " ")
	for _, word := range allowed {
		if given == word {
			return word, nil
		}
	}
	return "", d.Errf("%s: must be %s", option, strings.Join(allowed, " or "))
}

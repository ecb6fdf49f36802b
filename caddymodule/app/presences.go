package app

import (
	"cmp"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/pubsub/presence"
)

// Presence lets clients say that they are in some channels, and see who is.
type Presence struct {
	// Name of the presence: 1 to 32 of a-z, 0-9, _ and -.
	Name string `json:"name"`
	// Tenants whose channels it has: names, or beginnings of names with `*` behind. Default:
	// every tenant.
	Tenants []string `json:"tenants,omitempty"`
	// Channels that it has, as patterns, at least one.
	Channels []string `json:"channels"`
	// Members that a tenant may have in it, on all edges together, 1 to 1000000. Default, and
	// zero: 10000.
	Members int `json:"members,omitempty"`
	// Linger is how long a member stays whose last connection was lost, 1s to 10m. Default,
	// and zero: 15s.
	Linger caddy.Duration `json:"linger,omitempty"`
}

func (p Presence) definition() presence.Definition {
	return presence.Definition{
		Name: p.Name, Tenants: p.Tenants, Channels: p.Channels,
		Members: cmp.Or(p.Members, presence.DefaultMembers), Linger: cmp.Or(time.Duration(p.Linger), presence.DefaultLinger),
	}
}

// unmarshalPresence parses a presence block.
func (a *App) unmarshalPresence(d *caddyfile.Dispenser) error {
	var p Presence
	var err error
	if p.Name, err = args.One(d); err != nil {
		return err
	}
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] {
			return d.Errf("%s is given twice in presence %s", option, p.Name)
		}
		seen[option] = true
		switch option {
		case "tenants":
			if p.Tenants = d.RemainingArgs(); len(p.Tenants) == 0 {
				err = d.ArgErr()
			}
		case "channels":
			if p.Channels = d.RemainingArgs(); len(p.Channels) == 0 {
				err = d.Errf("channels: at least one pattern is needed; # alone stands in quotes, since it begins a comment")
			}
		case "members":
			p.Members, err = args.Number(d, args.Count)
		case "linger":
			p.Linger, err = args.Duration(d)
		default:
			err = d.Errf("unknown option %s of presence; allowed: tenants, channels, members, linger", option)
		}
		if err != nil {
			return err
		}
	}
	a.Presences = append(a.Presences, p)
	return nil
}

func (a *App) provisionPresences() (err error) {
	var definitions []presence.Definition
	for _, p := range a.Presences {
		definitions = append(definitions, p.definition())
	}
	a.presences, err = presence.NewSet(definitions)
	return err
}

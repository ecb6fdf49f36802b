// Package args parses the arguments of Caddyfile options. Each function is called right
// after the option's name was read, and expects exactly one argument; or, for [Block], a
// block of options with one argument each.
package args

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"
)

// One returns the argument.
func One(d *caddyfile.Dispenser) (string, error) {
	if !d.NextArg() {
		return "", d.ArgErr()
	}
	value := d.Val()
	if d.NextArg() {
		return "", d.ArgErr()
	}
	return value, nil
}

// Secret returns the argument, which must be a placeholder. No error repeats it.
func Secret(d *caddyfile.Dispenser) (string, error) {
	option := d.Val()
	if !d.NextArg() {
		return "", d.ArgErr()
	}
	value := d.Val()
	if !Placeholder.MatchString(value) {
		return "", d.Errf("%s: must be a placeholder like {env.NAME} or {file./run/secrets/name}, not the secret itself", option)
	}
	if d.NextArg() {
		return "", d.ArgErr()
	}
	return value, nil
}

// Duration parses a duration like 10s.
func Duration(d *caddyfile.Dispenser) (caddy.Duration, error) {
	option := d.Val()
	text, err := One(d)
	if err != nil {
		return 0, err
	}
	if err := noPlaceholder(d, option, text); err != nil {
		return 0, err
	}
	duration, err := caddy.ParseDuration(text)
	if err != nil {
		return 0, d.Errf("%s: must be a duration like 10s", option)
	}
	return caddy.Duration(duration), nil
}

// noPlaceholder refuses a placeholder where a number must stand: it has no value yet.
func noPlaceholder(d *caddyfile.Dispenser, option, text string) error {
	if !strings.ContainsAny(text, "{}") {
		return nil
	}
	return d.Errf("%s: %s: no placeholder can stand for a number or a duration; write {$NAME}, which is put in place when the Caddyfile is read", option, text)
}

// The largest values that options may have.
const (
	maxNumber   = 1 << 30
	maxDiskSize = 1 << 50
)

// Count is the kind of most numbers, for [Number].
const Count = "a whole number"

// Number parses a whole number; kind names it in errors, as [Count] does.
func Number(d *caddyfile.Dispenser, kind string) (int, error) {
	return number(d, kind, maxNumber, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 63) })
}

// Size parses a number of bytes of memory, which may have a unit: 64KiB, 1MB.
func Size(d *caddyfile.Dispenser) (int, error) {
	n, err := bytes(d, maxNumber)
	return int(n), err
}

// DiskSize parses a number of bytes on disk, as Size does.
func DiskSize(d *caddyfile.Dispenser) (int64, error) { return bytes(d, maxDiskSize) }

func bytes(d *caddyfile.Dispenser, limit int64) (int64, error) {
	n, err := number(d, "a size in bytes, or with a unit like KiB or MB", limit, func(text string) (uint64, error) {
		n, err := humanize.ParseBytes(text)
		if err == nil && (text[0] < '0' || text[0] > '9') {
			err = strconv.ErrSyntax
		}
		return n, err
	})
	return int64(n), err
}

func number(d *caddyfile.Dispenser, kind string, limit int64, parse func(string) (uint64, error)) (int, error) {
	option := d.Val()
	text, err := One(d)
	if err != nil {
		return 0, err
	}
	if err := noPlaceholder(d, option, text); err != nil {
		return 0, err
	}
	n, err := parse(text)
	if err != nil || n > uint64(limit) {
		return 0, d.Errf("%s: must be %s, up to %d", option, kind, limit)
	}
	return int(n), nil
}

// Block parses a block of options that have one value each. value reads the value of an
// option with one of the functions above.
func Block[T any](d *caddyfile.Dispenser, into map[string]*T, value func(option string) (T, error)) error {
	block := d.Val()
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		to, known := into[option]
		if !known {
			return d.Errf("unknown option %s of %s; allowed: %s", option, block, strings.Join(slices.Sorted(maps.Keys(into)), ", "))
		}
		var err error
		if *to, err = value(option); err != nil {
			return err
		}
	}
	return nil
}

package embedded

import (
	"reflect"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/args"
)

// Every option of every module that is a text may hold a placeholder, and one without a value is
// refused and named: nothing in its place would be another folder, another name, another host.
func TestPlaceholdersWithoutValue(t *testing.T) {
	const unset = "{env.TEST_UNSET}"
	options := 0
	for _, module := range caddy.Modules() {
		info, err := caddy.GetModule(module)
		if err != nil || module != "pubsub" && !strings.HasPrefix(module, "pubsub.") && !strings.HasPrefix(module, "http.handlers.pubsub") {
			continue
		}
		provision := func(m caddy.Module) error {
			return m.(caddy.Provisioner).Provision(caddy.Context{Context: t.Context()})
		}
		texts(info.New(), func(option string, set func(m any, text string)) {
			options++
			m := info.New()
			set(m, "x"+unset)
			if err := provision(m); err == nil || !strings.Contains(err.Error(), option+": "+unset+": the environment variable is empty or not set") {
				t.Errorf("%s, option %s: got %v", module, option, err)
			}
		})
	}
	if options < 70 {
		t.Errorf("%d options", options)
	}
}

// The space around a value, which nobody sees, is no part of a path.
func TestPlaceholdersWithSpace(t *testing.T) {
	t.Setenv("TEST_DATA", "/data/edge-1\n")
	t.Setenv("TEST_BLANK", " \r\n")
	if got, err := args.Replace("{env.TEST_DATA}/tokens"); got != "/data/edge-1/tokens" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := args.Replace("{env.TEST_BLANK}/tokens"); err == nil {
		t.Errorf("got %q", got)
	}
}

// texts calls test for each text among the options of a module.
func texts(module any, test func(option string, set func(m any, text string))) {
	var walk func(typ reflect.Type, option string, at func(reflect.Value) reflect.Value)
	walk = func(typ reflect.Type, option string, at func(reflect.Value) reflect.Value) {
		switch {
		case typ.Kind() == reflect.String:
			test(option, func(m any, text string) { at(reflect.ValueOf(m).Elem()).SetString(text) })
		case typ.Kind() == reflect.Pointer:
			walk(typ.Elem(), option, func(v reflect.Value) reflect.Value {
				p := at(v)
				if p.IsNil() {
					p.Set(reflect.New(typ.Elem()))
				}
				return p.Elem()
			})
		case typ.Kind() == reflect.Slice && typ.Elem().Kind() != reflect.Uint8:
			walk(typ.Elem(), option+" 1", func(v reflect.Value) reflect.Value {
				list := at(v)
				list.Set(reflect.MakeSlice(typ, 1, 1))
				return list.Index(0)
			})
		case typ.Kind() == reflect.Struct:
			for i := range typ.NumField() {
				field := typ.Field(i)
				if !field.IsExported() || field.Tag.Get("placeholders") == "kept" {
					continue
				}
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if option != "" && name != "" {
					name = option + "." + name
				}
				walk(field.Type, name, func(v reflect.Value) reflect.Value { return at(v).Field(i) })
			}
		}
	}
	walk(reflect.TypeOf(module).Elem(), "", func(v reflect.Value) reflect.Value { return v })
}

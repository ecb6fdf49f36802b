package args

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Placeholder matches what stands for a secret: the secret itself never gets into the
// configuration.
var Placeholder = regexp.MustCompile(`^\{(env|file)\.[^{}]+\}$`)

// Replace returns a text with the values of its placeholders, without the space around them. One that is unknown or has no value
// is an error, which names it: in a path, nothing in its place would name another folder. No error
// repeats a value.
func Replace(text string) (string, error) {
	return caddy.NewReplacer().ReplaceFunc(text, func(name string, value any) (any, error) {
		// A secret of Kubernetes, or a file, may end with a line feed that nobody sees.
		if text := strings.TrimSpace(caddy.ToString(value)); text != "" {
			return text, nil
		}
		variable, isVariable := strings.CutPrefix(name, "env.")
		switch variable, _, hasDefault := strings.Cut(variable, ":"); {
		case isVariable && hasDefault: // what stands behind the colon may be a secret
			return nil, fmt.Errorf("{env.%[1]s:…} cannot have a default; in a Caddyfile, {$%[1]s:…} can", variable)
		case isVariable:
			return nil, fmt.Errorf("{env.%s}: the environment variable is empty or not set", variable)
		case strings.HasPrefix(name, "file."):
			return nil, fmt.Errorf("{%s}: the file is empty or cannot be read", name)
		}
		return nil, fmt.Errorf("{%s}: there is no such placeholder; allowed: {env.NAME}, {file./path}, {system.hostname}", name)
	})
}

// Resolve replaces the placeholders in all options of a module, as [Replace] does: in the strings
// of its exported fields, and of structs and lists below. A module calls it first in its Provision.
// It leaves fields alone that have the tag `placeholders:"kept"`: those of secrets, which the module
// replaces elsewhere, and texts in which braces are braces. The error begins with the option's name.
func Resolve(module any) error { return resolve(reflect.ValueOf(module).Elem(), "") }

func resolve(v reflect.Value, option string) error {
	switch v.Kind() {
	case reflect.String:
		text, err := Replace(v.String())
		if err != nil {
			return fmt.Errorf("%s: %w", option, err)
		}
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			return resolve(v.Elem(), option)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON of a guest, which resolves its own
			return nil
		}
		for i := range v.Len() {
			if err := resolve(v.Index(i), fmt.Sprintf("%s %d", option, i+1)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return resolveFields(v, option)
	}
	return nil
}

func resolveFields(v reflect.Value, option string) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Tag.Get("placeholders") == "kept" {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			name = option
		case option != "":
			name = option + "." + name
		}
		if err := resolve(v.Field(i), name); err != nil {
			return err
		}
	}
	return nil
}

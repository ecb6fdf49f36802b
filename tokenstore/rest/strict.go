package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/tokenstore"
)

// DecodeStrict reads exactly one JSON object into the struct that dst points
// to. It is stricter than encoding/json (docs/protocol.md, REST): keys are
// compared by case and come at most once, an unknown key, a byte order mark,
// invalid UTF-8, half a surrogate pair, data after the object and an empty
// input are errors. A key whose value is null counts as omitted; in a list null
// is an error, because a place in a list cannot be omitted. Where a field has the tag
// `empty:"refused"`, an empty string is an error, too: it is not an absent one, and whoever
// sends it has probably lost a value.
//
// Fields are named by their json tags and are strings, booleans, integers,
// structs, slices and pointers of these, or a [json.RawMessage], whose text alone is
// checked. Keys that are absent leave their field
// as it was.
//
// Errors are *[tokenstore.InvalidError] with the JSON path of the fault. They
// never hold a part of the input, but for an unknown key that looks like a name.
// DecodeStrict is safe for concurrent use.
func DecodeStrict(data []byte, dst any) error {
	if err := checkText(data); err != nil {
		return err
	}
	return decodeValue(data, reflect.ValueOf(dst).Elem(), "")
}

// checkText checks the text as a whole; after it, data is one
// JSON value. The scanner of encoding/json does not recurse and stops at depth
// 10,000, and decodeValue goes only as deep as the type of dst: deep nesting
// costs nothing.
func checkText(data []byte) error {
	switch {
	case len(bytes.TrimLeft(data, " \t\r\n")) == 0:
		return invalid("", "is empty; allowed: one JSON object")
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return invalid("", "starts with a byte order mark; allowed: UTF-8 without one")
	case !utf8.Valid(data):
		return invalid("", "is not valid UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) { // its text quotes the input, its offset does not
			return invalid("", fmt.Sprintf("is not one JSON object: syntax error at byte %d", syntax.Offset))
		}
		return invalid("", "is not one JSON object")
	}
	if at := loneSurrogate(data); at >= 0 {
		return invalid("", fmt.Sprintf(`has half a surrogate pair in a \u escape at byte %d`, at+1))
	}
	return nil
}

// loneSurrogate returns the offset of the first \u escape of a surrogate without
// its other half, or -1. encoding/json would replace it by U+FFFD. In valid JSON a
// backslash occurs only in strings, so strings need not be recognized.
func loneSurrogate(data []byte) int {
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		unit := escapedUnit(data[i:])
		switch {
		case unit < 0xD800 || unit > 0xDFFF:
			i++ // the escaped byte may be a backslash
		case unit < 0xDC00 && escapedUnit(data[i+6:])>>10 == 0xDC00>>10:
			i += 11
		default:
			return i
		}
	}
	return -1
}

// escapedUnit returns the UTF-16 code unit of a \uXXXX escape at the start of b,
// or 0 when there is none.
func escapedUnit(b []byte) uint64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit
}

// decodeValue sets v from raw, which is one valid JSON value.
func decodeValue(raw []byte, v reflect.Value, path string) error {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if v.Type() == reflect.TypeFor[json.RawMessage]() { // whoever uses it checks it
		v.SetBytes(bytes.Clone(raw))
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, v.Elem(), path)
	case reflect.Struct:
		return decodeObject(raw, v, path)
	case reflect.Slice:
		return decodeList(raw, v, path)
	case reflect.String:
		return decodeScalar(raw, v, path, "a string")
	case reflect.Bool:
		return decodeScalar(raw, v, path, "true or false")
	case reflect.Int, reflect.Int64:
		return decodeScalar(raw, v, path, "an integer without fraction or exponent")
	case reflect.Uint64:
		return decodeScalar(raw, v, path, "an integer from 0 on, without fraction or exponent")
	default:
		panic("rest: DecodeStrict does not know " + v.Type().String())
	}
}

func decodeScalar(raw []byte, v reflect.Value, path, want string) error {
	if raw[0] == 'n' || json.Unmarshal(raw, v.Addr().Interface()) != nil {
		return invalid(path, "must be "+want)
	}
	return nil
}

func decodeObject(raw []byte, v reflect.Value, path string) error {
	if raw[0] != '{' {
		return invalid(path, "must be an object")
	}
	fields, names := jsonFields(v.Type())
	seen := make(map[string]bool, len(fields))
	dec := json.NewDecoder(bytes.NewReader(raw))
	for _, _ = dec.Token(); dec.More(); { // steps over {, then key by key
		token, _ := dec.Token() // the text is known to be valid
		key, _ := token.(string)
		index, known := fields[key]
		if !known {
			return invalid(path, "has an unknown key"+shownKey(key)+"; allowed: "+strings.Join(names, ", "))
		}
		at := key
		if path != "" {
			at = path + "." + key
		}
		if seen[key] {
			return invalid(at, "is given more than once")
		}
		seen[key] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return invalid(at, "is not valid JSON")
		}
		if value[0] == 'n' {
			continue
		}
		field := v.FieldByIndex(index)
		if err := decodeValue(value, field, at); err != nil {
			return err
		}
		if field.Kind() == reflect.String && field.Len() == 0 && v.Type().FieldByIndex(index).Tag.Get("empty") == "refused" {
			return invalid(at, "is empty; omit it instead")
		}
	}
	return nil
}

// maxShownKey is how many bytes of an unknown key an error shows. It is less than a part of a token
// has, which somebody may have put in the place of a key.
const maxShownKey = 31

// shownKey is an unknown key, quoted after a space, if it looks like a name; otherwise nothing.
func shownKey(key string) string {
	if key == "" || len(key) > maxShownKey || strings.Trim(key, nameBytes) != "" {
		return ""
	}
	return " " + strconv.Quote(key)
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func decodeList(raw []byte, v reflect.Value, path string) error {
	if raw[0] != '[' {
		return invalid(path, "must be a list")
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	dec := json.NewDecoder(bytes.NewReader(raw))
	for _, _ = dec.Token(); dec.More(); { // steps over [, then value by value
		at := fmt.Sprintf("%s[%d]", path, list.Len())
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return invalid(at, "is not valid JSON")
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if err := decodeValue(value, item, at); err != nil {
			return err
		}
		list = reflect.Append(list, item)
	}
	v.Set(list)
	return nil
}

// jsonFields returns the fields of a struct by their JSON names, including those of
// embedded structs, and the names in order.
func jsonFields(t reflect.Type) (fields map[string][]int, names []string) {
	fields = make(map[string][]int)
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = f.Index
			names = append(names, name)
		}
	}
	return fields, names
}

// invalid is the error for the value at path; the empty path is the body.
func invalid(path, reason string) error {
	if path == "" {
		path = "body"
	}
	return &tokenstore.InvalidError{Path: path, Reason: reason, Code: string(CodeInvalidBody)}
}

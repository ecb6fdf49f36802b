package tokenstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// checkSubject refuses what cannot be a subject.
func checkSubject(s string) error {
	if len(s) < 1 || len(s) > MaxSubject || !utf8.ValidString(s) || bytes.ContainsFunc([]byte(s), unicode.IsControl) {
		return invalid("subject", fmt.Sprintf("must be 1 to %d bytes of UTF-8 without control characters", MaxSubject))
	}
	return nil
}

// normalizeInfo checks the info of a request and returns it in its stored form: without
// insignificant space.
func normalizeInfo(info json.RawMessage) (json.RawMessage, error) {
	if len(info) == 0 {
		return nil, nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, info)
	stored := compact.Bytes()
	switch {
	case err != nil, !utf8.Valid(stored), stored[0] != '{':
		return nil, invalid("info", "must be a JSON object")
	case len(stored) > MaxInfo:
		return nil, invalid("info", fmt.Sprintf("must be at most %d bytes of JSON without space", MaxInfo))
	}
	return stored, checkNesting(stored)
}

// ownerIsLegal reports whether the subject and the info of a record are such as Issue stores.
func (r *accessRecord) ownerIsLegal() bool {
	_, err := normalizeInfo(r.Info)
	return err == nil && (r.Subject == "" || checkSubject(r.Subject) == nil)
}

// checkNesting refuses JSON that is nested too deep, or has an object in which a key comes
// twice. Programs differ in which of the two they take.
func checkNesting(value []byte) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	type level struct {
		keys  map[string]bool // of an object, so far; nil: it is a list
		value bool            // the next token is the value of a key
	}
	var levels []level
	for {
		token, err := dec.Token()
		if err != nil {
			return invalid("info", "must be a JSON object")
		}
		top := len(levels) - 1
		if key, is := token.(string); is && top >= 0 && levels[top].keys != nil && !levels[top].value {
			if levels[top].keys[key] {
				return invalid("info", "has an object in which a key is given more than once")
			}
			levels[top].keys[key], levels[top].value = true, true
			continue
		}
		if top >= 0 {
			levels[top].value = false
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:top]
		}
		switch {
		case len(levels) == 0:
			return nil
		case len(levels) > MaxInfoDepth:
			return invalid("info", fmt.Sprintf("must be nested at most %d deep", MaxInfoDepth))
		}
	}
}

package tokenstore

import "testing"

// A record without the right to the past, and to presence, is what it was before there were
// such: it is read, and written again, to the byte.
func TestRecordsOfBefore(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	const old = `{"secret_sha256":"abababababababababababababababababababababababababababababababab","created_by":"a",` +
		`"created_at":"2030-01-01T00:00:00Z","expires_at":"2030-01-01T01:00:00Z","right":{"tenant_grants":[` +
		`{"tenant_ids":["t"],"allow_channels_pub":["a"],"allow_channels_sub":["#"]}]}}`
	const withHistory = `{"secret_sha256":"abababababababababababababababababababababababababababababababab","created_by":"a",` +
		`"created_at":"2030-01-01T00:00:00Z","expires_at":"2030-01-01T01:00:00Z","right":{"tenant_grants":[` +
		`{"tenant_ids":["t"],"allow_channels_pub":["a"],"allow_channels_sub":["#"],"allow_channels_history":["a.?"]}]}}`
	const withPresence = `{"secret_sha256":"abababababababababababababababababababababababababababababababab","created_by":"a",` +
		`"created_at":"2030-01-01T00:00:00Z","expires_at":"2030-01-01T01:00:00Z","right":{"tenant_grants":[` +
		`{"tenant_ids":["t"],"allow_channels_pub":["a"],"allow_channels_sub":["#"],"allow_channels_presence":["a.?"]}]}}`
	for _, text := range []string{old, withHistory, withPresence} {
		var r accessRecord
		if err := decode(Record{Kind: KindAccess, ID: id, Value: []byte(text)}, &r); err != nil {
			t.Fatal(err)
		}
		if again, err := r.encode(id, 1); err != nil || string(again.Value) != text {
			t.Errorf("%s\nis written as\n%s, %v", text, again.Value, err)
		}
		a, err := compile(id, 1, &r)
		if err != nil {
			t.Fatal(err)
		}
		if has := a.right.grants[0].history.Size() > 0; has != (text == withHistory) {
			t.Errorf("%s: rules for the past: %v", text, has)
		}
		if has := a.right.grants[0].presence.Size() > 0; has != (text == withPresence) {
			t.Errorf("%s: rules for presence: %v", text, has)
		}
	}
}

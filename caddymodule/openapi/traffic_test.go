package openapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// TestTraffic sends the calls to the real handler. What goes out and what comes
// back must be what the document says.
func TestTraffic(t *testing.T) {
	doc := load(t)
	store := storetest.NewMemory()
	t.Cleanup(func() { _ = store.Close() })
	service, err := tokenstore.NewService(store, tokenstore.Config{})
	must(t, err)
	_, master, err := service.CreateMaster(context.Background(), tokenstore.MasterSpec{Name: "test", TenantPrefix: "paint"})
	must(t, err)
	handler := rest.NewHandler(rest.Options{Service: func() *tokenstore.Service { return service }})
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)

	call := func(method, path, token string, request object) object {
		t.Helper()
		target := path
		if path == "/v1/tokens/{token_id}" {
			target, _ = request["token_id"].(string)
			target, request = "/v1/tokens/"+target, nil
		}
		if method == http.MethodDelete && path == "/v1/tokens" && request == nil {
			target += "?subject=%C3%A9"
		}
		operation := at(t, doc, doc, "paths", path, strings.ToLower(method))
		body := ""
		if request != nil {
			schema := at(t, doc, operation, "requestBody", "content", "application/json", "schema")
			if fault := mismatch(t, doc, schema, request); fault != "" {
				t.Errorf("request of %s: %s", path, fault)
			}
			b, err := json.Marshal(request)
			must(t, err)
			body = string(b)
		}
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.TLS = &tls.ConnectionState{HandshakeComplete: true}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		var answer object
		must(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		response := at(t, doc, operation, "responses", fmt.Sprint(rec.Code))
		schema := at(t, doc, response, "content", rec.Header().Get("Content-Type"), "schema")
		if fault := mismatch(t, doc, schema, answer); fault != "" {
			t.Errorf("answer %d of %s: %s\n%v", rec.Code, path, fault, answer)
		}
		headers, _ := response.(object)["headers"].(object)
		for name := range headers {
			if want := at(t, doc, headers[name], "schema", "const"); rec.Header().Get(name) != want {
				t.Errorf("answer %d of %s: %s = %q, want %q", rec.Code, path, name, rec.Header().Get(name), want)
			}
		}
		return answer
	}

	issued := call(http.MethodPost, "/v1/get-token", master, object{
		"created_by": "test", "description": "everything set", "subject": "é", "info": object{"plan": "pro"},
		"right": object{
			"tenant_grants": []any{object{
				"tenant_ids": []any{"eu"}, "allow_channels_pub": []any{"a.*"}, "allow_channels_sub": []any{"(a|b).?"},
				"allow_channels_history": []any{"a.?"}, "allow_channels_presence": []any{"a.*"},
			}},
			"allow_ip_masks": []any{"192.0.2.0/24"}, "allow_regions": []any{"EU"},
			"allowed_ws_origin": []any{"https://app.example.com"}, "allow_protocols": []any{"websocket"},
			"ingress_kb_per_sec": 8.0, "egress_kb_per_sec": 16384.0, "expires_at": expires,
		},
	})
	call(http.MethodPut, "/v1/refresh-token", master, object{"token_id": issued["token_id"], "expires_at": expires})
	call(http.MethodPut, "/v1/refresh-token", master, object{"token_id": issued["token_id"], "expires_in": 60.0})
	call(http.MethodGet, "/v1/tokens", master, nil)
	if revoked := call(http.MethodDelete, "/v1/tokens", master, nil); revoked["revoked"] != 1.0 {
		t.Errorf("revoked by subject: %v", revoked)
	}
	if revoked := call(http.MethodDelete, "/v1/tokens", master, object{"subject": "é"}); revoked["subject"] != "é" {
		t.Errorf("revoked by a subject in the body: %v", revoked)
	}
	call(http.MethodDelete, "/v1/tokens/{token_id}", master, object{"token_id": issued["token_id"]})
	call(http.MethodDelete, "/v1/tokens/{token_id}", master, object{"token_id": strings.Repeat("0", 32)}) // 404
	call(http.MethodDelete, "/v1/revoke-token", master, object{"token": issued["token"]})
	call(http.MethodGet, "/v1/tokens", master, nil)
	call(http.MethodPut, "/v1/refresh-token", master, object{"token_id": issued["token_id"], "expires_at": expires}) // 409
	call(http.MethodGet, "/v1/tokens", "MT_", nil)                                                                   // 401

	example, _ := at(t, doc, doc, "components", "schemas", "GetTokenRequest", "example").(object)
	if fault := mismatch(t, doc, at(t, doc, doc, "components", "schemas", "GetTokenRequest"), example); fault != "" {
		t.Errorf("the example of get-token: %s", fault)
	}
}

// mismatch says how v breaks the schema, by the keywords that the document
// uses; empty when it does not.
func mismatch(t *testing.T, doc object, schema, v any) string {
	t.Helper()
	s, _ := at(t, doc, schema).(object)
	for _, part := range list(s["allOf"]) {
		if fault := mismatch(t, doc, part, v); fault != "" {
			return fault
		}
	}
	if want, is := s["const"]; is && v != want {
		return fmt.Sprintf("%v is not %v", v, want)
	}
	if enum := list(s["enum"]); enum != nil && !slices.Contains(enum, v) {
		return fmt.Sprintf("%v is not one of %v", v, enum)
	}
	kind, _ := s["type"].(string)
	switch v := v.(type) {
	case string:
		if pattern, is := s["pattern"].(string); is && !regexp.MustCompile(pattern).MatchString(v) {
			return fmt.Sprintf("%q does not match %s", v, pattern)
		}
		if s["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, v); err != nil {
				return err.Error()
			}
		}
		return wrongType(kind, "string", v)
	case float64:
		return wrongType(kind, "integer", v)
	case []any:
		for i, item := range v {
			if fault := mismatch(t, doc, s["items"], item); fault != "" {
				return fmt.Sprintf("[%d]: %s", i, fault)
			}
		}
		return wrongType(kind, "array", v)
	case object:
		for _, name := range strs(s["required"]) {
			if _, is := v[name]; !is {
				return name + " is missing"
			}
		}
		known := properties(t, doc, s)
		for name, value := range v {
			property, is := known[name]
			if is {
				if fault := mismatch(t, doc, property, value); fault != "" {
					return name + ": " + fault
				}
			} else if s["additionalProperties"] == false || s["unevaluatedProperties"] == false {
				return name + " is not documented"
			}
		}
		return wrongType(kind, "object", v)
	}
	return fmt.Sprintf("%v is of no type that the document uses", v)
}

// properties are those of the schema and of its parts.
func properties(t *testing.T, doc, schema object) object {
	t.Helper()
	all := object{}
	for _, part := range list(schema["allOf"]) {
		part, _ := at(t, doc, part).(object)
		for name, property := range properties(t, doc, part) {
			all[name] = property
		}
	}
	own, _ := schema["properties"].(object)
	for name, property := range own {
		all[name] = property
	}
	return all
}

func wrongType(want, got string, v any) string {
	if want == "" || want == got {
		return ""
	}
	return fmt.Sprintf("%v is no %s", v, want)
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

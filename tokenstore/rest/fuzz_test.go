package rest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// Whatever body comes, every route answers it with 200 or with one of its
// refusals, and what get-token accepts is listed as it was asked for.
func FuzzBodies(f *testing.F) {
	end := timestamp(time.Date(2030, 1, 31, 13, 0, 0, 0, time.UTC))
	for _, seed := range []string{
		`{}`, `null`, `{"token":"AT_"}`, `{"token_id":"0123456789abcdef0123456789abcdef","expires_at":"` + end + `"}`,
		`{"created_by":"a","right":{"tenant_grants":[{"tenant_ids":["a","a.b"],"allow_channels_pub":["a.(b|c*).#"],"allow_channels_sub":["?.x*"]}],` +
			`"allow_ip_masks":["10.1.2.3/8","::1"],"allow_regions":["EU"],"allowed_ws_origin":["HTTPS://A.b:443","null"],"allow_protocols":["websocket"],` +
			`"ingress_kb_per_sec":1,"egress_kb_per_sec":16384,"expires_at":"` + end + `"}}`,
		`{"created_by":"\u00e9","description":null,"right":{"tenant_grants":[{"tenant_ids":[]},{"tenant_ids":["~"]}],"expires_at":"` + end + `"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e := newEdge(t)
		for _, route := range Routes {
			if !route.TakesBody() {
				continue
			}
			r := request(route.Methods[0], route.Path, masterPaint, string(body))
			r.Header.Set("Content-Type", "application/json")
			res := e.do(r)
			answer, err := io.ReadAll(res.Body)
			must(t, err)
			if res.StatusCode != http.StatusOK {
				var p Problem
				if json.Unmarshal(answer, &p) != nil || Status[Code(p.Code)] != res.StatusCode || res.StatusCode >= 500 {
					t.Fatalf("%s: %d %s", route.Path, res.StatusCode, answer)
				}
			}
		}
		tokens, _, err := e.options.Service().List(t.Context(), &tokenstore.Master{TenantPrefix: "paint."}, tokenstore.ListOptions{})
		must(t, err)
		for _, token := range tokens {
			if len(token.Right.TenantGrants) == 0 || token.Status != tokenstore.StatusValid {
				t.Fatalf("issued %+v", token)
			}
		}
	})
}

package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A call of the admin API that a command makes, as method, path and body, and its answer.
type call struct{ want, answer string }

// refused is an answer that is a problem.
const refused = `{"detail":"no room","code":"full"}`

// What the flags say is what the edge is asked, and what it answers is printed.
func TestRequests(t *testing.T) {
	t.Setenv(tokenVariable, testAccess)
	const (
		page     = `{"edges":[{"name":"a"},{"name":"b"}],"connections":[{"edge_name":"a","id":7,"token_id":"t"}],"next_cursor":"c"}`
		lastPage = `{"edges":[{"name":"a","answered":true},{"name":"b","error":"gone"},{"name":"c","state":"silent","error":"none"}],"connections":[{"edge_name":"b","id":8,"token_id":"u"}]}`
		members  = `{"members":[{"channel":"x","subject":"ann","info":%d}],"total":1%s}`
	)
	for _, tt := range []struct {
		args     string
		calls    []call
		code     int
		out, err string // parts
	}{
		{
			"token issue --tenant p.a --tenant p.b --pub x.# --sub y.* --sub z --history z --presence y.* --expires-at 2030-01-01T00:00:00Z" +
				" --ip-mask 10.0.0.0/8 --region EU --origin https://example.com --protocol websocket --ingress 16 --egress 32" +
				" --created-by me --description words --subject ann --info {}",
			[]call{{
				`POST /pubsub/tokens {"created_by":"me","description":"words","subject":"ann","info":{},"right":{"tenant_grants":[{"tenant_ids":["p.a","p.b"],` +
					`"allow_channels_pub":["x.#"],"allow_channels_sub":["y.*","z"],"allow_channels_history":["z"],"allow_channels_presence":["y.*"]}],` +
					`"allow_ip_masks":["10.0.0.0/8"],"allow_regions":["EU"],"allowed_ws_origin":["https://example.com"],` +
					`"allow_protocols":["websocket"],"ingress_kb_per_sec":16,"egress_kb_per_sec":32,"expires_at":"2030-01-01T00:00:00Z"}}`,
				`{"token":"AT_x","token_id":"x"}`,
			}},
			0, "AT_x", "shown only once",
		},
		{"token list --tenant a --subject s --limit 5 --cursor c", []call{{"GET /pubsub/tokens?cursor=c&limit=5&subject=s&tenant=a", `{"tokens":[{"token_id":"x","status":"valid"}],"next_cursor":"d"}`}}, 0, "x         valid", "--cursor d"},
		{"token revoke", []call{{"DELETE /pubsub/tokens/" + testID + " {}", ``}}, 0, "revoked " + testID, ""},
		{"token revoke --subject ann", []call{{"DELETE /pubsub/tokens?subject=ann {}", `{"revoked":2}`}}, 0, "revoked 2 tokens\n", ""},
		{"token refresh x --expires-at y", []call{{`PUT /pubsub/tokens/x {"expires_at":"y"}`, `{"new_expires_at":"2030-01-01T00:00:00Z"}`}}, 0, "refreshed x until 2030-01-01T00:00:00Z\n", ""},
		{
			"token refresh x --expires-in 25h", []call{{`PUT /pubsub/tokens/x {"expires_in":90000}`, `{"new_expires_at":"2030-01-01T00:00:00Z","expires_in":86400}`}}, 0,
			"refreshed x until 2030-01-01T00:00:00Z\n", "The token is good for 24h0m0s, the longest that an edge gives, and not for 25h0m0s.\n",
		},
		{
			"token issue --tenant a -q --expires-in 25h", []call{{`POST /pubsub/tokens {"created_by":"cli","right":{"tenant_grants":[{"tenant_ids":["a"]}],"expires_in":90000}}`, `{"token":"AT_x","expires_in":86400}`}}, 0,
			"AT_x\n", "The token is good for 24h0m0s,",
		},
		{"token refresh x", []call{{"", refused}}, 1, "", "no room (400 full)\n"},
		{"token issue --tenant a --expires-at y", []call{{"", `{"detail":"it is noon at this edge","code":"expires_at_out_of_range"}`}}, 1, "", "it is noon at this edge (400 expires_at_out_of_range); it is 20"},
		{"token explain x --action connect --ip 10.1.2.3 --origin o --protocol p --region r", []call{{`POST /pubsub/explain {"action":"connect","ip":"10.1.2.3","origin":"o","protocol":"p","region":"r","token_id":"x"}`, `{"allowed":false,"reason":"why","rule":"r"}`}}, 3, "refused: why\nrule: r\n", ""},
		{"token explain x --action connect", []call{{"", `{"allowed":true,"reason":"ok","token":{"token_id":"x","status":"valid","subject":"ann","created_by":"me","tenants":["p.a"],"master_id":"m","master_name":"shop"},` +
			`"limits":[{"name":"max_connections_per_tenant","of":"p.a","limit":9,"used":2},{"name":"egress_kb_per_sec","limit":8}]}`}}, 0,
			"subject: ann\ntenants: p.a\nissued by: master token m (shop), for me\nlimit: max_connections_per_tenant of p.a: 2 of 9\nlimit: egress_kb_per_sec: 8\n", ""},
		{
			"master-token create --name n --description d --tenant-prefix p. --ip-mask ::1 --max-tokens 1 --max-bytes 2 --calls-per-second 3 --quiet",
			[]call{{`POST /pubsub/master-tokens {"name":"n","description":"d","tenant_prefix":"p.","allow_ip_masks":["::1"],"max_tokens":1,"max_bytes":2,"calls_per_second":3}`, `{"token":"MT_x"}`}}, 0, "MT_x\n", "",
		},
		{"master-token update x --name n", []call{{`PATCH /pubsub/master-tokens/x {"name":"n"}`, `{"id":"x","name":"n","max_tokens":9}`}}, 0, "max tokens     9", ""},
		{"master-token update x --tenant-prefix= --description=", []call{{`PATCH /pubsub/master-tokens/x {"description":"","tenant_prefix":""}`, `{"id":"x"}`}}, 0, "", ""},
		{"master-token rotate x --revoke-tokens", []call{{`POST /pubsub/master-tokens/x/rotate {"revoke_tokens":true}`, `{"token":"MT_x","revoked_tokens":4}`}}, 0, "revoked access tokens  4", "shown only once"},
		{"master-token rotate x -q", []call{{`POST /pubsub/master-tokens/x/rotate {"revoke_tokens":false}`, `{"id":"x","token":"MT_x"}`}}, 0, "MT_x\n", ""},
		{"master-token delete x", []call{{`DELETE /pubsub/master-tokens/x {"revoke_tokens":false}`, ``}}, 0, "deleted\n", ""},
		{
			"connections --all --token-id t --subject s --tenant a --ip ::1 --transport websocket",
			[]call{
				{"GET /pubsub/connections?ip=%3A%3A1&limit=1000&subject=s&tenant=a&token_id=t&transport=websocket", page},
				{"GET /pubsub/connections?cursor=c&ip=%3A%3A1&limit=1000&subject=s&tenant=a&token_id=t&transport=websocket", lastPage},
			},
			1, "\nb     8", "edge c is silent: it has crashed, or is cut off. It is not included.\nError: without an answer of 1 edge: b: gone",
		},
		{
			"refused --all --subject s --connection-id c --ip ::1 --limit 5",
			[]call{{"GET /pubsub/refused?connection_id=c&ip=%3A%3A1&limit=5&subject=s", `{"edges":[{"name":"b","error":"gone"}],"refused":[` +
				`{"edge_name":"a","time":"2030-01-01T00:00:00Z","connection_id":"00000000000000ab","action":"sub","code":"permission_denied","reason":"why not","rule":"r","ip":"192.0.2.1","tenant":"t","channel":"a.*"}],"next_cursor":"x"}`}},
			1, "a     2030-01-01T00:00:00Z  00000000000000ab  sub t:a.*  permission_denied  -         -        192.0.2.1  -          why not  r\n",
			"without an answer of 1 edge: b: gone",
		},
		{"refused --limit 0", nil, 2, "", "--limit: must be from 1 to 1000"},
		{"disconnect 7 --edge eu", []call{{`POST /pubsub/connections/disconnect {"edge":"eu","id":7}`, `{"disconnected":1}`}}, 0, "Closed 1 connection.\n", ""},
		{"disconnect --token-id t --all", []call{{`POST /pubsub/connections/disconnect {"token_id":"t"}`, `{"disconnected":2,"unanswered":["b"]}`}}, 1, "Closed 2 connections.\n", "without an answer of 1 edge: b"},
		{"connections --all", []call{{"", `{"edges":[{"name":"c","state":"silent"}]}`}}, 0, "EDGE", "Note: edge c is silent"},
		{"connections --edge c", []call{{"", `{"edges":[{"name":"c","state":"silent","error":"none"}]}`}}, 1, "", "without an answer of 1 edge: c: none"},
		{"disconnect --token-id t --all", []call{{"", `{"disconnected":2,"unanswered":[],"silent":["b"]}`}}, 0, "Closed 2 connections.\n", "Note: edge b is silent"},
		{
			"edges", []call{{"GET /pubsub/edges", `{"edges":[{"id":"a","name":"A","state":"here","answered":true,"status":{"version":"1","connections":{"websocket":2,"webtransport":3},` +
				`"links":[{"of":"broker","connected":true},{"of":"tokens","code":"login_refused","reason":"why","error":"text","since":"2030-01-01T00:00:00Z"}]}},` +
				`{"id":"b","name":"B","state":"silent","seen_at":"2030-01-01T00:00:00Z","error":"no answer"}]}`}},
			0, "A     a   here    1        5            no      not usable  -\nB     b   silent  -        -            -       -           2030-01-01T00:00:00Z\n\n" +
				"A: tokens: login_refused, since 2030-01-01T00:00:00Z: why (text)\nB: no answer\n", "",
		},
		{
			"edges", []call{{"GET /pubsub/edges", `{"edges":[{"id":"a","name":"A","state":"here","status":{"quorum":{"leader":"e1","needed":3,"running":3,"members":[{"name":"e1","state":"leader","replicas":2},` +
				`{"name":"e2","state":"lagging","behind":7,"replicas":2,"lagging":1},{"name":"e4","state":"offline","since":"2030-01-01T00:00:00Z"},{"name":"e5","state":"current"}]}}}]}`}},
			0, "e2           lagging  -                     7       2, 1 lagging\ne4           offline  2030-01-01T00:00:00Z  0       0\ne5           current  -                     0       0\n\n" +
				"3 of 4 members run, and 3 must: one more loss stops the cluster. Start the offline members, or remove those that do not come back: pubsub edges remove <member>\n", "",
		},
		{
			"edges remove e4 --lost", []call{
				{`POST /pubsub/members/e4/remove {"lost":true,"running":false}`, `{"member":"e4","removed":true,"moving":["KV_x: 2 of 3 replicas have everything"],"short":[]}`},
				{`POST /pubsub/members/e4/remove {"lost":true,"running":false}`, `{"member":"e4","removed":true,"moving":[],"short":["KV_x: few"]}`},
			}, 0, "e4 is removed from the cluster.\nKV_x: few\n", "e4: KV_x: 2 of 3 replicas have everything\n",
		},
		{"edges remove e4 --running", []call{{`POST /pubsub/members/e4/remove {"lost":false,"running":true}`, `{"member":"e4","removed":true}`}}, 0, "Stop its edge now", ""},
		{"edges remove e4 --wait 0s", []call{{"", `{"member":"e4","moving":["KV_x: has a replica on the member"]}`}}, 1, "", "it is not removed yet; repeat the command"},
		{"edges remove e9", []call{{"", refused}}, 1, "", "no room (400 full)"},
		{ // of the edges, this one is the last; one that fails keeps none of the others
			"drain --all", []call{
				{"GET /pubsub/edges", `{"edges":[{"id":"a","name":"A"},{"id":"b","name":"B"},{"id":"c","name":"C","state":"silent","lost":true}]}`},
				{"POST /pubsub/edges/b/drain {}", refused},
				{"POST /pubsub/edges/a/drain {}", ``},
			},
			1, "Edge A is draining", "edge B: no room (400 full)",
		},
		{
			"drain --wait --edge b", []call{
				{"POST /pubsub/edges/b/drain {}", ``},
				{"GET /pubsub/connections?edge=b&limit=1", `{"edges":[{"answered":true,"total":2}]}`},
				{"GET /pubsub/connections?edge=b&limit=1", `{"edges":[{"answered":true}]}`},
			},
			0, "Edge b is draining", "",
		},
		{"drain --wait", []call{{"POST /pubsub/drain {}", ``}, {"GET /pubsub/connections?edge=local&limit=1", `{"edges":[{"total":0}]}`}}, 1, "", "does not say how many clients"},
		{"drain --wait", []call{{"", refused}}, 1, "", "no room"},
		{
			"drain --wait", []call{{"", ``}, {"", `{"edges":[{"answered":true,"total":2,"draining":true}]}`}, {"", `{"edges":[{"answered":true,"total":2}]}`}},
			1, "The edge is draining", "the drain was taken back",
		},
		{"undrain", []call{{"DELETE /pubsub/edges/local/drain {}", ``}}, 0, "The edge takes clients", ""},
		{"undrain --edge b", []call{{"DELETE /pubsub/edges/b/drain {}", refused}}, 1, "", "no room"},
		{
			"undrain --all --json", []call{
				{"GET /pubsub/edges", `{"edges":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`},
				{"DELETE /pubsub/edges/b/drain {}", ``}, {"DELETE /pubsub/edges/a/drain {}", ``},
			},
			0, `{"serving":["B","A"]}` + "\n", "",
		},
		{"undrain --all --edge b", nil, 2, "", "--edge and --all"},
		{"drain --wait --all", nil, 2, "", "--wait and --all"},
		{"drain --all", []call{{"", `no JSON`}}, 1, "", "invalid character"},
		{
			"presence --tenant a x.# --subject ann --json",
			[]call{
				{"GET /pubsub/presences/members?limit=1000&pattern=x.%23&subject=ann&tenant=a", fmt.Sprintf(members, 1, `,"next_cursor":"c"`)},
				{"GET /pubsub/presences/members?cursor=c&limit=1000&pattern=x.%23&subject=ann&tenant=a", fmt.Sprintf(members, 2, "")}, // has changed meanwhile
			},
			0, `"info":2`, "",
		},
		{"presence --tenant a", []call{{"", `no JSON`}}, 1, "", "invalid character"},
		{
			"presence", []call{{"GET /pubsub/presences?limit=1000", `{"presences":[{"presence":"p","tenant":"a","members":3}],"next_cursor":"c"}`}, {"GET /pubsub/presences?cursor=c&limit=1000", `{"presences":[{"presence":"q"}]}`}},
			0, "p         a       3\nq ", "",
		},
		{
			"history read h a #", []call{{
				`POST /pubsub/histories/read {"after":"","history":"h","pattern":"#","tenant":"a"}`,
				`{"messages":[{"time":"2030-01-31T12:00:00Z","channel":"c","sender":"ann","payload":"aGk="},{"time":"2030-01-31T12:00:01Z","channel":"c","payload":"c2VuZGVyPSJhbm4iIGhp"}]}`,
			}},
			0, "2030-01-31T12:00:00Z c sender=\"ann\" hi\n2030-01-31T12:00:01Z c sender=\"\" sender=\"ann\" hi\n", "",
		},
		{
			"history list", []call{{"GET /pubsub/histories", `{"histories":[{"history":"h","tenant":"a","channels":1,"messages":2,"bytes":3,"oldest":"2030-01-31T12:00:00Z"}],"totals":[
				{"history":"h","effective":{"version":2,"messages":7,"age_seconds":5400,"size":1048576,"max_lag_seconds":0},
				 "drift":[{"field":"version","configured":"1","effective":"2"},{"field":"messages","configured":"9","effective":"7"}],"remedy":"do this"},
				{"history":"lost","effective":null,"error":"no room"},{"history":"i","effective":{"version":0,"messages":1,"age_seconds":1,"size":1,"max_lag_seconds":60}}]}`}},
			1, "HISTORY  TENANT  CHANNELS  MESSAGES  BYTES  OLDEST\nh        a       1         2         3      2030-01-31T12:00:00Z\n\n" +
				"HISTORY  VERSION  MESSAGES  AGE    SIZE     MAX_LAG  DRIFT\nh        2        7         1h30m  1048576  none     version,messages\n" +
				"i        0        1         1s     1        1m       none\n\n" +
				"h is kept otherwise than this edge has configured: version 2 (configured: 1), messages 7 (configured: 9). To change this: do this.\n",
			"lost cannot be used: no room",
		},
		{"history purge h --tenant a", []call{{`POST /pubsub/histories/purge {"all":false,"history":"h","tenant":"a"}`, `{"removed":3}`}}, 0, "3 messages are deleted.\n", ""},
		{"history purge h --tenant a --channel c", []call{{`POST /pubsub/histories/purge {"all":false,"channel":"c","history":"h","tenant":"a"}`, `{"removed":3}`}}, 0, "3 messages are deleted.\n", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			left := tt.calls
			edge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
				if len(left) == 0 || left[0].want != "" && got != left[0].want {
					t.Errorf("the edge was asked\n%s, want %v", got, left)
					return
				}
				if strings.HasPrefix(left[0].answer, `{"detail"`) {
					w.WriteHeader(http.StatusBadRequest)
				}
				_, _ = io.WriteString(w, left[0].answer)
				left = left[1:]
			}))
			defer edge.Close()
			got := run(t.Context(), "", append(strings.Fields(tt.args), "--address", edge.Listener.Addr().String())...)
			if got.code != tt.code || !strings.Contains(got.out, tt.out) || !strings.Contains(got.err, tt.err) || len(left) > 0 {
				t.Errorf("got exit code %d, %q and %q; want %d, %q and %q; %d calls are left", got.code, got.out, got.err, tt.code, tt.out, tt.err, len(left))
			}
		})
	}
}

// A master token is created only in a store without one.
func TestFirstMaster(t *testing.T) {
	for list, want := range map[string]string{`{"master_tokens":[]}`: "MT_x", `{"master_tokens":[{}]}`: ""} {
		edge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, list)
			} else {
				_, _ = io.WriteString(w, `{"token":"MT_x"}`)
			}
		}))
		d := &devEdge{admin: edge.Listener.Addr().String()}
		if got, err := d.createFirstMaster(t.Context()); got != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", list, got, err, want)
		}
		edge.Close()
	}
}

package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// builtSDK is what scripts/sdk-js.sh makes of the SDK for TypeScript. Node knows it
// by the name of the package.
const builtSDK = "clients/node_modules/@millrace/client/dist"

// needSDK requires that it has been built.
func needSDK(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(builtSDK, "index.js")); err != nil {
		t.Fatalf("the SDK for TypeScript is not built (%v): run scripts/install-test-deps.sh", err)
	}
}

// nodeSDK is a process of Node.
type nodeSDK struct{ *foreign }

// startNodeSDK runs one that trusts the edges.
func startNodeSDK(t *testing.T, edges []*edge, report func(sdkReport)) sdkHost {
	t.Helper()
	needSDK(t)
	var roots bytes.Buffer
	for _, e := range edges {
		root, err := os.ReadFile(e.rootFile())
		if err != nil {
			t.Fatal(err)
		}
		roots.Write(root)
	}
	file := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(file, roots.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	kind := foreignKind{"node", []string{"node", "clients/sdk_node.mjs"}, "clients/node_modules/ws", []string{"NODE_EXTRA_CA_CERTS=" + file}}
	var routing sync.WaitGroup
	t.Cleanup(routing.Wait)
	n := &nodeSDK{kind.start(t)}
	routing.Go(func() { // ends with the process, which ends before the cleanup above
		for event := range n.events {
			report(decodeReport(event))
		}
	})
	return n
}

// decodeReport reads a report as [foreign] gives it.
func decodeReport(event any) (r sdkReport) {
	text, err := json.Marshal(event)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return sdkReport{Event: "not a report: " + string(text)}
	}
	return r
}

func (n *nodeSDK) send(command sdkCommand) error {
	line, err := json.Marshal(command)
	if err != nil {
		return err
	}
	_, err = n.stdin.Write(append(line, '\n'))
	return err
}

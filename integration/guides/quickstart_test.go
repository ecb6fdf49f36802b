package guides

import "testing"

func TestNodeQuickstart(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/quickstart/node.md")
	p.Edge()
	p.Run("npm install")
	p.Run("token issue")
	p.Files()
	subscriber := p.Start("node subscribe.mjs")
	p.Run("node publish.mjs")
	p.Await(subscriber, "chat.hall Hello from Node")
}

func TestGoQuickstart(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/quickstart/go.md")
	p.Edge()
	p.Run("go mod init")
	p.Run("token issue")
	p.Files()
	p.Start("go run .")
}

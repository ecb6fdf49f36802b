package command

import "github.com/spf13/cobra"

// repository is where the documents are.
const repository = "https://github.com/millrace/millrace/blob/main/"

// pages says where more is about each command of `pubsub`, and about those below it.
var pages = map[string]string{
	"pubsub":       "README.md",
	"dev":          "docs/quickstart/browser.md",
	"caddyfile":    "docs/configuration.md",
	"sdk":          "docs/reference/typescript.md",
	"master-token": "docs/how-to/tokens.md",
	"token":        "docs/how-to/tokens.md",
	"backup":       "docs/backups.md",
	"restore":      "docs/backups.md",
	"edges":        "docs/clustering.md",
	"connections":  "docs/operations.md",
	"refused":      "docs/operations.md",
	"disconnect":   "docs/operations.md",
	"drain":        "docs/operations.md",
	"undrain":      "docs/operations.md",
	"ready":        "docs/operations.md",
	"history":      "docs/history.md",
	"presence":     "docs/how-to/presence.md",
	"subscribe":    "docs/concepts.md",
	"publish":      "docs/concepts.md",
	"bench":        "docs/performance.md",
}

// nameDocs ends the help of pubsub and of the commands below it with their pages. Caddy's commands, above,
// name Caddy's.
func nameDocs(pubsub *cobra.Command) {
	template := pubsub.HelpTemplate()
	for _, cmd := range append(pubsub.Commands(), pubsub) {
		cmd.SetHelpTemplate(template + "\nFull documentation is available at:\n" + repository + pages[cmd.Name()] + "\n")
	}
}

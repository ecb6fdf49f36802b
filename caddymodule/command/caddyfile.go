package command

import (
	"embed"
	"strings"
	"text/template"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/spf13/cobra"
)

//go:embed production.Caddyfile dev.Caddyfile
var caddyfiles embed.FS

// edgeTemplates are the Caddyfiles of production and of dev, which have the options that an
// app notices in common.
var edgeTemplates = template.Must(template.ParseFS(caddyfiles, "*.Caddyfile"))

func caddyfileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "caddyfile <host>",
		Short: "Prints a Caddyfile for production, with the limits of dev",
		Long: "Prints the Caddyfile of a public edge with the bandwidth, history and presence of dev, so that\n" +
			"an app behaves there as it does on a laptop. The host is the name under which clients reach\n" +
			"the edge, with a port if it is not 443. Behind a proxy that has the certificate, write\n" +
			"http:// before it.",
		Example: "  pubsub caddyfile edge.example.com >Caddyfile",
	}
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		site := args[0]
		address, err := httpcaddyfile.ParseAddress(site)
		if err != nil || address.Host == "" || address.Path != "" || strings.ContainsAny(site, "*{}`\"', \t\n") {
			return usagef("%q: must be a host name like edge.example.com, with a port if it is not 443, and with http:// before it if a proxy has the certificate", site)
		}
		return edgeTemplates.ExecuteTemplate(cmd.OutOrStdout(), "production.Caddyfile", map[string]string{
			"Program": caddy.CustomBinaryName, "Site": site,
		})
	})
}

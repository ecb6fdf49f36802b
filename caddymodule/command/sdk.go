package command

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/caddymodule/sdk"
)

func sdkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sdk <origin>",
		Short: "Prints the tags with which a page loads the JavaScript SDK from an edge",
		Long: "Prints the tags with which a page loads the JavaScript SDK from an edge with pubsub_sdk in its\n" +
			"site: as a script, which makes the global millrace, or as a module, by an import map. A browser\n" +
			"runs only the very file that the hash is of, which is that of this program's version: when an\n" +
			"edge is upgraded, so are the pages.",
		Example: "  pubsub sdk https://edge.example.com",
	}
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		origin, err := url.Parse(args[0])
		if err != nil || origin.Scheme != "https" && origin.Scheme != "http" || origin.Host == "" || args[0] != origin.Scheme+"://"+origin.Host {
			return usagef("%q: must be the origin of an edge, like https://edge.example.com", args[0])
		}
		script, module := sdk.URL(args[0], sdk.ScriptPath), sdk.URL(args[0], sdk.ModulePath)
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "<script src=\"%s\" integrity=\"%s\" crossorigin=\"anonymous\"></script>\n\n"+
			"<script type=\"importmap\">{ \"imports\": { \"@millrace/client\": \"%[3]s\" }, \"integrity\": { \"%[3]s\": \"%[4]s\" } }</script>\n",
			script, sdk.At(sdk.ScriptPath).Integrity, module, sdk.At(sdk.ModulePath).Integrity)
		return err
	})
}

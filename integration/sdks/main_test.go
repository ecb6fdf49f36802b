package sdks

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) {
	code := harness.Run(m, useClient)
	if !clientOutcomes.print() && strings.Contains(flag.Lookup("test.run").Value.String(), "TestSDKs") {
		fmt.Fprintln(os.Stderr, "no scenario has this name")
		code = 1
	}
	os.Exit(code)
}

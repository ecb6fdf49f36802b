// Package browsers tests pages in Chromium and Firefox: the demo page, the documentation, and WebTransport.
package browsers

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Package programs tests what people start: examples, the README, packages, commands.
package programs

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/testcheck"
)

func TestMain(m *testing.M) { harness.Main(m) }

var must = testcheck.Must

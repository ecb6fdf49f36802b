package cluster

import (
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

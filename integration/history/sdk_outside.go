package history

import (
	"slices"

	"github.com/millrace/millrace/integration/sdk"
)

// ClientName is the name of that client in sdkKinds.
const ClientName = "client"

// SdkLacks reports whether the client of MILLRACE_CLIENT lacks a feature.
func SdkLacks(feature string) bool {
	p := sdk.Programs[ClientName]
	return p != nil && slices.Contains(p.Lacks, feature)
}

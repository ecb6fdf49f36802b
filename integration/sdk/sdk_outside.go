package sdk

import ()

// Environment variables of a run that tests one client, which scripts/conformance.sh sets.
const (
	ClientVariable           = "MILLRACE_CLIENT"            // the driver, as a command of the shell
	ClientTransportsVariable = "MILLRACE_CLIENT_TRANSPORTS" // separated by commas; empty: what hello names
	ClientFolderVariable     = "MILLRACE_CLIENT_FOLDER"     // in which the driver runs; empty: the repository's
)

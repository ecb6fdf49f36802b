package harness

// Sessions is how many sessions an edge has.
func (e *Edge) Sessions() int {
	e.T.Helper()
	got := e.Metrics()
	return int(got["millrace_connections{transport=websocket}"] + got["millrace_connections{transport=webtransport}"])
}

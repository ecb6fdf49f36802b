// Package tokens tests the REST API, the lives of tokens, and that no secret leaves an edge.
package tokens

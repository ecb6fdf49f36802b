package handler

import (
	"slices"
	"testing"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/tokenstore/rest"
)

// Each call of the REST API is an operation that is counted.
func TestRESTOperations(t *testing.T) {
	for _, route := range rest.Routes {
		if !slices.Contains(app.TokenOperations, route.Operation) {
			t.Errorf("%s is the operation %q", route.Path, route.Operation)
		}
	}
}

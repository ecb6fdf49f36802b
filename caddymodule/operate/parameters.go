package operate

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/wire"
)

var errCursor = invalid("cursor", "must be the next_cursor of an answer")

// parameters reads a query that may have these parameters, each once and not empty.
func parameters(raw string, allowed ...string) (map[string]string, error) {
	values, err := url.ParseQuery(raw)
	if err != nil { // its text quotes the query
		return nil, invalid("query", "is not well-formed")
	}
	given := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name][0]
		switch {
		case !slices.Contains(allowed, name): // it may be a secret
			return nil, invalid("query", "has an unknown parameter; allowed: "+strings.Join(allowed, ", "))
		case len(values[name]) > 1:
			return nil, invalid(name, "is given more than once")
		case value == "": // does not mean all: the client has probably lost a value
			return nil, invalid(name, "is empty; omit it instead")
		}
		given[name] = value
	}
	return given, nil
}

// limitOf returns the parameter limit, or 0 if it is not given.
func limitOf(given map[string]string, most int) (int, error) {
	text, has := given["limit"]
	if !has {
		return 0, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > most {
		return 0, invalid("limit", "must be an integer from 1 to "+strconv.Itoa(most))
	}
	return limit, nil
}

// checkTenantFilter checks the name of a tenant, or the beginning of names with * behind.
func checkTenantFilter(filter string) error {
	if start, _ := strings.CutSuffix(filter, "*"); start != "" && wire.CheckTenant(start) != nil {
		return invalid("tenant", "must be the name of a tenant, or the beginning of names with * behind")
	}
	return nil
}

// tenantMatches reports whether such a filter, or an empty one, matches a tenant.
func tenantMatches(filter, tenant string) bool {
	if start, isStart := strings.CutSuffix(filter, "*"); isStart {
		return strings.HasPrefix(tenant, start)
	}
	return filter == "" || filter == tenant
}

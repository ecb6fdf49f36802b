package rest

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Parameters reads a raw query that may have the allowed parameters, each once and not empty. A
// plus is a space, as forms write it. Errors quote nothing of the query.
func Parameters(raw string, allowed ...string) (map[string]string, error) {
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

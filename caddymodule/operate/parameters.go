package operate

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/wire"
)

var errCursor = invalid("cursor", "must be the next_cursor of an answer")

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

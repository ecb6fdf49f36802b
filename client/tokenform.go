package client

import (
	"slices"
	"strings"
)

// What access and master tokens begin with.
const (
	accessPrefix = "AT_"
	masterPrefix = "MT_"
)

// tokenOrigins say where tokens come from.
var tokenOrigins = map[string]string{
	accessPrefix: "TokenAdmin.Issue or `millrace pubsub token issue`",
	masterPrefix: "`millrace pubsub master-token create`",
}

// checkToken tells apart what is no access token, before anything is sent. Whether it is good is the edge's to
// say. No text repeats it: it may be a secret.
func checkToken(token string) error {
	if wrong := checkForm(token, accessPrefix); wrong != "" {
		return badOption("this is no access token: %s", wrong)
	}
	return nil
}

// checkMaster is checkToken for a master token.
func checkMaster(token string) error {
	if wrong := checkForm(token, masterPrefix); wrong != "" {
		return badOption("this is no master token: %s", wrong)
	}
	return nil
}

// checkForm returns what is wrong with a token, and what to do; empty: nothing.
func checkForm(token, prefix string) string {
	trimmed := strings.TrimSpace(token)
	scheme, _, _ := strings.Cut(trimmed, " ")
	switch {
	case trimmed == "":
		return "it is empty; is its environment variable set?"
	case strings.EqualFold(scheme, "bearer"):
		return `leave out "Bearer ", which belongs to the header of HTTP alone`
	case strings.HasPrefix(trimmed, "{"):
		return "it is a JSON object: give its member token alone, or json.Unmarshal it into an AccessToken in a TokenProvider"
	case strings.HasPrefix(trimmed, "<") && strings.ContainsAny(trimmed[1:], "<! \n"):
		return "it is a page: is the URL of the token endpoint right, and is the user logged in?"
	case strings.HasPrefix(trimmed, "$"), strings.HasPrefix(trimmed, "%"), strings.HasPrefix(trimmed, "<"), slices.Contains([]string{"undefined", "null", "nil", "None", "AT_…", "MT_…", "AT_...", "MT_..."}, trimmed):
		return "it is a placeholder that nothing has replaced; is the variable set where this runs?"
	case trimmed != token:
		return "it has white space at its beginning or end, such as a line break from a file: remove it, as with strings.TrimSpace"
	case prefix == accessPrefix && strings.HasPrefix(token, masterPrefix):
		return "it is a master token (MT_…), which stays on servers: issue an access token with it, by NewTokenAdmin(…).Issue"
	case prefix == masterPrefix && strings.HasPrefix(token, accessPrefix):
		return "it is an access token (AT_…), which issues no others: `millrace pubsub master-token create` makes a master token (MT_…)"
	case !strings.HasPrefix(token, prefix):
		return "it does not begin with " + prefix + ", as one does that " + tokenOrigins[prefix] + " gives"
	case strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "it has characters other than visible ASCII"
	case len(token) > 1000:
		return "it has more than 1,000 bytes"
	}
	return ""
}

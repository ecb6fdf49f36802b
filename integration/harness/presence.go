package harness

import "strings"

// PresenceTenant is the tenant of the tests about presence, unless they say another one.
const PresenceTenant = "paint.a"

// WithPresence is an edge that knows who is in room.#; options are of that block.
func WithPresence(options ...string) string {
	return strings.Replace(DefaultCaddyfile, "drain ", `presence rooms {
			channels room.#
			`+strings.Join(options, "\n\t\t\t")+`
		}
		drain `, 1)
}

// SubjectToken issues a token of a subject, with info, that may do everything in the tenants,
// to watch who is present included.
func (e *Edge) SubjectToken(subject, info string, tenants ...string) string {
	e.T.Helper()
	grant := AllowAll(tenants...)
	grant["allow_channels_presence"] = []string{"#"}
	request := TokenRequest(grant)
	if subject != "" {
		request["subject"] = subject
	}
	if info != "" {
		request["info"] = Object{"name": info}
	}
	return e.IssueAs(e.Master, request).Token
}

package tokenstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

const tenantRule = "must be a tenant name: 1 to 128 bytes of a-z A-Z 0-9 _ - ~ @ ."

func checkLen(path string, n int) error {
	if n > MaxRules {
		return invalid(path, fmt.Sprintf("must have at most %d entries", MaxRules))
	}
	return nil
}

func checkDescription(path, s string) error {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxDescription {
		return invalid(path, fmt.Sprintf("must be at most %d characters of UTF-8", MaxDescription))
	}
	return nil
}

// normalizeSpec checks the specification of a master token and returns it in its stored
// form.
func normalizeSpec(spec MasterSpec) (MasterSpec, error) {
	if n := utf8.RuneCountInString(spec.Name); n < 1 || n > MaxMasterName || !utf8.ValidString(spec.Name) {
		return spec, invalid("name", fmt.Sprintf("must be 1 to %d characters of UTF-8", MaxMasterName))
	}
	if err := checkDescription("description", spec.Description); err != nil {
		return spec, err
	}
	if err := spec.Quota.check(); err != nil {
		return spec, err
	}
	var err error
	if spec.TenantPrefix, err = NormalizePrefix(spec.TenantPrefix); err != nil {
		return spec, err
	}
	spec.AllowIPMasks, err = normalizeMasks("allow_ip_masks", spec.AllowIPMasks)
	return spec, err
}

func checkLabels(req IssueRequest) error {
	if n := len(req.CreatedBy); n < 1 || n > MaxCreatedBy || !utf8.ValidString(req.CreatedBy) {
		return invalid("created_by", fmt.Sprintf("must be 1 to %d bytes of UTF-8", MaxCreatedBy))
	}
	if err := checkDescription("description", req.Description); err != nil {
		return err
	}
	if req.Subject == "" {
		return nil
	}
	return checkSubject(req.Subject)
}

// normalizeRight checks a right as it was sent and returns it in its stored
// form: physical tenants, normalised masks and origins. It leaves ExpiresAt
// to parseExpiry. It changes nothing that r shares with the caller.
func (s *Service) normalizeRight(prefix string, r Right) (Right, error) {
	var err error
	if r.TenantGrants, err = normalizeGrants(prefix, r.TenantGrants); err != nil {
		return r, err
	}
	if r.AllowIPMasks, err = normalizeMasks("right.allow_ip_masks", r.AllowIPMasks); err != nil {
		return r, err
	}
	if err = oneOf("right.allow_regions", r.AllowRegions, s.regions); err != nil {
		return r, err
	}
	if r.AllowedWSOrigin, err = normalizeOrigins("right.allowed_ws_origin", r.AllowedWSOrigin); err != nil {
		return r, err
	}
	protocols := []string{ProtocolWebSocket, ProtocolWebTransport}
	if err = oneOf("right.allow_protocols", r.AllowProtocols, protocols); err != nil {
		return r, err
	}
	if err = s.checkCap("right.ingress_kb_per_sec", r.IngressKBPerSec); err != nil {
		return r, err
	}
	return r, s.checkCap("right.egress_kb_per_sec", r.EgressKBPerSec)
}

func (s *Service) checkCap(path string, kb *int) error {
	if kb != nil && (*kb < 1 || *kb > s.maxKBPerSec) {
		return invalid(path, fmt.Sprintf("must be an integer from 1 to %d", s.maxKBPerSec))
	}
	return nil
}

func normalizeGrants(prefix string, grants []TenantGrant) ([]TenantGrant, error) {
	const path = "right.tenant_grants"
	if len(grants) < 1 || len(grants) > MaxGrants {
		return nil, invalid(path, fmt.Sprintf("must have 1 to %d grants", MaxGrants))
	}
	out := make([]TenantGrant, 0, len(grants))
	tenants := 0
	for i, g := range grants {
		at := fmt.Sprintf("%s[%d]", path, i)
		g, err := normalizeGrant(at, prefix, g)
		if err != nil {
			return nil, err
		}
		tenants += len(g.TenantIDs)
		out = append(out, g)
	}
	if tenants == 0 {
		return nil, invalid(path+"[0].tenant_ids", "at least one grant must name a tenant")
	}
	return out, nil
}

func normalizeGrant(at, prefix string, g TenantGrant) (TenantGrant, error) {
	if len(g.TenantIDs) > MaxTenants {
		return g, invalid(at+".tenant_ids", fmt.Sprintf("must have at most %d tenants", MaxTenants))
	}
	names := make([]string, 0, len(g.TenantIDs))
	for i, t := range g.TenantIDs {
		name := physicalTenant(prefix, t)
		if t == "" || wire.CheckTenant(name) != nil {
			return g, invalid(fmt.Sprintf("%s.tenant_ids[%d]", at, i),
				tenantRule+" with the prefix of the master token")
		}
		names = append(names, name)
	}
	g.TenantIDs = names
	if err := checkRules(at+".allow_channels_pub", g.AllowChannelsPub, pattern.PublishRule); err != nil {
		return g, err
	}
	if err := checkRules(at+".allow_channels_sub", g.AllowChannelsSub, pattern.SubscribeRule); err != nil {
		return g, err
	}
	if err := checkRules(at+".allow_channels_history", g.AllowChannelsHistory, pattern.SubscribeRule); err != nil {
		return g, err
	}
	return g, checkRules(at+".allow_channels_presence", g.AllowChannelsPresence, pattern.SubscribeRule)
}

func checkRules(path string, rules []string, kind pattern.RuleKind) error {
	if err := checkLen(path, len(rules)); err != nil {
		return err
	}
	for i, text := range rules {
		_, err := pattern.ParseRule(text, kind)
		var syntax *pattern.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return invalid(fmt.Sprintf("%s[%d]", path, i),
				fmt.Sprintf("must be a channel rule; at byte %d: %s", syntax.Pos, syntax.Reason))
		case err != nil:
			return invalid(fmt.Sprintf("%s[%d]", path, i), "must be a channel rule")
		}
	}
	return nil
}

func normalizeOrigins(path string, origins []string) ([]string, error) {
	if err := checkLen(path, len(origins)); err != nil {
		return nil, err
	}
	out := make([]string, 0, len(origins))
	for i, o := range origins {
		norm, ok := normalizeOrigin(o)
		if !ok {
			return nil, invalid(fmt.Sprintf("%s[%d]", path, i), originRule)
		}
		out = append(out, norm)
	}
	return out, nil
}

func oneOf(path string, values, allowed []string) error {
	if err := checkLen(path, len(values)); err != nil {
		return err
	}
	for i, v := range values {
		if !slices.Contains(allowed, v) {
			return invalid(fmt.Sprintf("%s[%d]", path, i), "must be one of "+strings.Join(allowed, ", "))
		}
	}
	return nil
}

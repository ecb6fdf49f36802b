// Names (docs/protocol.md): checked here before they are sent, so that the
// edge's answers always repeat them.
import { advice } from "./advice.js";
import { MillraceError } from "./errors.js";

const LITERAL = "[\\w\\-~@]+";
const tenantRule = /^[\w\-~@.]{1,128}$/;
const channelRule = new RegExp(`^(?=.{1,256}$)${LITERAL}(\\.${LITERAL}){0,31}$`);
const patternRule = new RegExp(`^(?=.{1,256}$)((${LITERAL}\\*?|\\*)\\.){0,31}(${LITERAL}[*>#]?|[*>#])$`);

export const isTenant = (name: string): boolean => tenantRule.test(name);
export const isChannel = (name: string): boolean => channelRule.test(name);
export const isPattern = (name: string): boolean => patternRule.test(name);

/** What an empty tenant means. */
export const DEFAULT_TENANT = "~";

/** checkedTenant returns the tenant's name on the wire. */
export function checkedTenant(tenant: string): string {
  return checked("tenant", isTenant, tenant === "" ? DEFAULT_TENANT : tenant);
}

/** checkedChannel returns the channel; an error names the tenant, too, if it is given. */
export function checkedChannel(channel: string, tenant?: string): string {
  return checked("channel", isChannel, channel, tenant);
}

/** checkedPattern returns the pattern; likewise. */
export function checkedPattern(pattern: string, tenant?: string): string {
  return checked("pattern", isPattern, pattern, tenant);
}

function checked(kind: string, legal: (name: string) => boolean, name: string, tenant?: string): string {
  if (typeof name !== "string" || !legal(name)) {
    const about = { ...(tenant === undefined ? {} : { tenant }), [kind]: String(name).slice(0, 256) };
    throw new MillraceError(`bad_${kind}`, advice()?.rule(kind, String(name)) ?? "not a legal name", about);
  }
  return name;
}

// The entry for tokens on Node, by its export condition; admin.ts is that of all others, and has its types.
import { TokenAdmin as Admin, type TokenAdminOptions } from "./admin.js";
import { checkMembers } from "./members.js";
import { fetchThrough, proxyFor } from "./proxy.js";

export { channelToken, MillraceError } from "./admin.js";

/** That of admin.ts, which goes through a forward proxy besides. */
export class TokenAdmin extends Admin {
  constructor(urls: string | readonly string[], masterToken: string, options: TokenAdminOptions = {}) {
    checkMembers("the object of options", options, "allowPlaintext fetch logger proxy timeout");
    const { proxy, fetch: own, ...rest } = options;
    const ours: typeof fetch = (url, init) => fetchThrough(proxyFor(`${url}`, proxy), `${url}`, init);
    super(urls, masterToken, { ...rest, fetch: own ?? ours });
    for (const url of [urls].flat()) proxyFor(url, proxy); // complains at once
  }
}

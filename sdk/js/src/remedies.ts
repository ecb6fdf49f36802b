import type { Advice } from "./advice.js";
import { hints } from "./hints.js";

// What to do about a code, and where the text or the cause matters, which one.
const remedies: readonly (readonly [code: string, remedy: string, text?: RegExp])[] = [
  ["unauthorized", "a tokenProvider asks for it in time", /expired/],
  ["unauthorized", "ask the backend whether this user may have another one", /revoked/],
  ["unauthorized", "it is incomplete, or of another edge: edges that share a token store take the same tokens"],
  ["token_expired", "a tokenProvider gives the next one in time"],
  ["token_revoked", "ask the backend whether this user may have another one"],
  ["ip_not_allowed", "look at ipMasks of its issue; behind a proxy, the edge needs trusted_proxies"],
  ["origin_not_allowed", "issue it with the origin of this page in origins, scheme and port included"],
  ["region_not_allowed", "look at regions of its issue, or connect to an edge elsewhere"],
  ["protocol_not_allowed", "look at protocols of its issue, or allow the other one in transports"],
  ["tls_required", "use https://, or for a test allow_plaintext of the edge"],
  ["permission_denied", "have it issued with a grant that contains it", /^the token(?!.*mean)/],
  ["payload_too_large", "it is over max_payload of the edge: send a link to the data, or raise the option"],
  [
    "no_history",
    "no history of the edge keeps all channels of it: its operator adds one, or leave history and key out",
  ],
  [
    "no_subscriber",
    "nobody subscribes to it, and nobody has got the message: start a worker, or publish it again later",
  ],
  [
    "subscribers_busy",
    "all have as many as they asked for, and nobody has got it: publish it again later, or start more",
  ],
  ["too_many_subscriptions", "it would be over max_subscriptions of the edge: use a pattern for many channels"],
  ["no_subject", "the token has no subject: have it issued with one, such as the id of the user"],
  ["no_presence", "no presence of the edge contains it: its operator adds one"],
  [
    "disconnected",
    "publish again after the event reconnected, or with confirm and a key, which waits",
    /no connection/,
  ],
  ["closed", "connect gives another one", /client/],
  ["queue_full", "read faster, set a larger queue, or drain() before the end"],
  ["slow_consumer", "the edge has dropped messages: read faster, or subscribe with a history"],
  ["outcome_unknown", "publishes may be lost: publish with confirm and a key"],
  ["limited", "raise egressKBps or ingressKBps of the token, or the edge's bandwidth", /./],
  ["gap", "the token may not read the past: issue it with a grant whose history contains the pattern", /no_right/],
  ["gap", "messages may be missing: load the state again, in a handler of the event gap"],
  ["refused", "perhaps the token, or the origin of this page"],
  ["unreachable", "check host and port", /not a Millrace edge/],
  ["unreachable", "nothing listens at this port; is it running?", /ECONNREFUSED/],
  ["unreachable", "no name server knows the host; is it spelled right?", /ENOTFOUND|EAI_AGAIN/],
  ["unreachable", "the server does not speak TLS; pass http:// if it is on this machine", /wrong version number/],
  [
    "unreachable",
    "the server does not speak HTTP; does the address begin with https://?",
    /Parse Error|hang up|ECONNRESET/,
  ],
  ["unreachable", "its certificate is not trusted; NODE_EXTRA_CA_CERTS names the authority's file", /certificate/i],
];

const acts = { PUB: ["publish", "to"], RSUB: ["read the past", "of"], WHO: ["see who is present", "in"] } as const;

/** The advice of the whole package. */
export const whole: Advice = {
  ...hints,
  denied(asked, names, denial) {
    const [verb, tenant = "", name] = asked.split(":");
    const all = names.join(", ");
    if (denial === "tenants") return `the token is for ${all}, not for ${tenant}${hints.nearest(tenant, names)}`;
    const [act, to] = acts[verb as "PUB"] ?? ["subscribe", "to"];
    const may = `${act} in ${tenant}`;
    return all ? `the token may ${may} only ${to} ${all}, not ${to} ${name}` : `the token may not ${may}`;
  },
  remedy(code, text, why) {
    const remedy = remedies.find(([of, , is]) => of === code && (!is || is.test(why || text)))?.[1] ?? "";
    return text.includes(remedy) ? "" : remedy;
  },
};

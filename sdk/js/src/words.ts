// The members of JSON, as refusals name them, and the fields of this package that have other names.
const words: { readonly [member: string]: string } = {
  tenant_grants: "grants",
  tenant_ids: "tenants",
  allow_channels_pub: "publish",
  allow_channels_sub: "subscribe",
  allow_channels_history: "history",
  allow_channels_presence: "presence",
  allow_ip_masks: "ipMasks",
  allow_regions: "regions",
  allowed_ws_origin: "origins",
  allow_protocols: "protocols",
  ingress_kb_per_sec: "ingressKBps",
  egress_kb_per_sec: "egressKBps",
};

/** inOurWords returns the detail of a refusal with the fields of this package; undefined: it has none. */
export function inOurWords(detail: unknown): string | undefined {
  if (typeof detail !== "string") return undefined;
  return detail
    .replace(/\bright\./g, "")
    .replace(
      /[a-z]+(_[a-z]+)+/g,
      (word) => words[word] ?? word.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    );
}

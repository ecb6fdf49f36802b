// The lines of a Caddyfile for a master token.

export interface StaticMaster {
  readonly name: string;
  readonly description?: string;
  readonly tenant_prefix: string;
  readonly allow_ip_masks?: readonly string[];
  readonly max_tokens?: number;
  readonly max_bytes?: number;
  readonly calls_per_second?: number;
}

/** caddyfileLines returns a master_token block that reads its secret from the environment. */
export function caddyfileLines(m: StaticMaster): string {
  const options: string[] = [];
  const add = (option: string, value: string | undefined): void => {
    if (value !== undefined) options.push(`\t${option} ${value}`);
  };
  add("name", quote(m.name));
  if (m.description) add("description", quote(m.description));
  if (m.tenant_prefix) add("tenant_prefix", m.tenant_prefix);
  if (m.allow_ip_masks?.length) add("allow_ip_masks", m.allow_ip_masks.join(" "));
  for (const option of ["max_tokens", "max_bytes", "calls_per_second"] as const) {
    if (m[option]) add(option, String(m[option]));
  }
  return `master_token {env.MILLRACE_MASTER_TOKEN} {\n${options.join("\n")}\n}`;
}

/**
 * quote returns one argument of a Caddyfile, or undefined if it cannot be written as such: braces
 * and a dollar would be replaced, and control characters are better not pasted.
 */
export function quote(text: string): string | undefined {
  if (/^[\w.@~:/+-]+$/.test(text)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.test(text)) return undefined;
  if (!/["\\]/.test(text)) return `"${text}"`;
  return text.includes("`") ? undefined : `\`${text}\``;
}

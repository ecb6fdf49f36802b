// Screens and filters stand in the hash: #/connections?token_id=…

export interface Route {
  readonly screen: string;
  readonly query: Readonly<Record<string, string>>;
}

/** parseRoute reads a location's hash. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { screen: path || "overview", query: Object.fromEntries(new URLSearchParams(search)) };
}

/** routeTo makes a hash; what is empty is left out. */
export function routeTo(screen: string, query: Readonly<Record<string, string>> = {}): string {
  const search = searchOf(query);
  return `#/${screen}${search}`;
}

/** What looks like the secret of a token, behind its id. Addresses are kept and logged. */
const SECRET = /([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;

/** searchOf makes "?a=b" of what is not empty. No secret of a token gets into it. */
export function searchOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") params.set(name, String(value).replace(SECRET, "$1"));
  }
  const text = params.toString().replaceAll("+", "%20"); // a plus may mean either, and is refused to revoke
  return text === "" ? "" : `?${text}`;
}

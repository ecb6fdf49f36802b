// Tenant names and prefixes, by the rules of tokenstore/prefix.go and wire/names.go.

const legal = /^[\w\-~@.]*$/;

export const MAX_TENANT = 128; // bytes
export const MAX_PREFIX = 127;

/** storedPrefix returns a tenant prefix as it will be stored, or undefined if it is not legal. */
export function storedPrefix(prefix: string): string | undefined {
  const stored = /[A-Za-z0-9]$/.test(prefix) ? `${prefix}.` : prefix;
  return legal.test(stored) && stored.length <= MAX_PREFIX ? stored : undefined;
}

export const PREFIX_RULE: string =
  "At most 127 of a-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";

/** isTenant reports whether a name is a legal tenant. */
export function isTenant(name: string): boolean {
  return name.length > 0 && name.length <= MAX_TENANT && legal.test(name);
}

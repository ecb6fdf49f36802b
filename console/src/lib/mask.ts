// Address masks, by the rule of tokenstore/mask.go and net/netip: an address or a CIDR,
// without a zone, and no IPv4-mapped IPv6 address.

/** maskError returns what is wrong with a mask, or undefined. */
export function maskError(mask: string): string | undefined {
  const slash = mask.indexOf("/");
  const address = slash < 0 ? mask : mask.slice(0, slash);
  if (address.includes("%")) return "has a zone, which a mask may not have";
  const v4 = isIPv4(address);
  const groups = v4 ? undefined : parseIPv6(address);
  if (!v4 && !groups) return "is neither an address nor a CIDR such as 10.0.0.0/8";
  if (groups && isMapped(groups)) return "is an IPv4 address in the form of IPv6; write it as IPv4";
  if (slash < 0) return undefined;
  const most = v4 ? 32 : 128;
  const bits = mask.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > most)
    return `needs a length from 0 to ${most} after the slash`;
  return undefined;
}

/** isIPv4 reports whether text has four numbers up to 255, without leading zeros. */
export function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** parseIPv6 returns the eight groups of an address, or undefined. */
export function parseIPv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, i) => parseGroups(half, i === halves.length - 1));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  if (!tail) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? undefined : [...head, ...new Array<number>(missing).fill(0), ...tail];
}

// parseGroups reads groups between single colons; the last one of an address may be an IPv4 address.
function parseGroups(text: string, last: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else if (last && i === parts.length - 1 && isIPv4(part)) {
      const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else {
      return undefined;
    }
  }
  return groups;
}

// isMapped reports whether an address is in ::ffff:0:0/96.
function isMapped(groups: number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

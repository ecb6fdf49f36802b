import { MillraceError } from "./errors.js";

/** parseAddress checks an address and returns its URL; one with a path is that of a list. */
export function parseAddress(address: string, allowPlaintext: boolean): URL {
  let url: URL | undefined;
  try {
    url = new URL(address);
  } catch {
    // as below
  }
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new MillraceError("bad_option", "an address is a URL with https:// and without user, query and fragment");
  }
  if (url.protocol === "http:" && !allowPlaintext && !isLoopback(url.hostname)) {
    throw new MillraceError("bad_option", "an address with http:// must be on this machine, or allowPlaintext be set");
  }
  return url;
}

/** isLoopback says whether a URL's host is this machine. */
export function isLoopback(host: string): boolean {
  return /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(host);
}

import { advice } from "./advice.js";
import { badOption } from "./bad-option.js";

/** parseAddress checks an address and returns its URL; one with a path is that of a list. */
export function parseAddress(address: string, allowPlaintext: boolean): URL {
  let url: URL | undefined;
  try {
    url = new URL(address);
  } catch {
    // as below
  }
  const { username, password, search, hash, protocol, hostname = "", pathname = "" } = url ?? {};
  const legal =
    typeof address === "string" &&
    !(username || password || search || hash || /^\/w[st]$/.test(pathname)) &&
    (protocol === "https:" || (protocol === "http:" && (allowPlaintext || isLoopback(hostname))));
  if (url && legal) return url;
  badOption(advice()?.address(address, url) ?? "an address is an origin: https://, or http:// on this machine");
}

/** isLoopback says whether a URL's host is this machine. */
export function isLoopback(host: string): boolean {
  return /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(host);
}

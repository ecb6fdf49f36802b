import { badOption } from "./bad-option.js";

/** parseAddress checks an address and returns its URL; one with a path is that of a list. */
export function parseAddress(address: string, allowPlaintext: boolean): URL {
  let url: URL | undefined;
  try {
    url = new URL(address);
  } catch {
    // as below
  }
  if (url?.username || url?.password || url?.search || url?.hash)
    badOption("an address has no user, no query and no fragment: the token is an option");
  const given = JSON.stringify(String(address).slice(0, 256));
  if (typeof address !== "string" || !/^[a-z]+:\/\//i.test(address))
    badOption(`the address ${given} must be a URL with https:// or http://, such as "https://edge.example.com"`);
  if (!url) badOption(`the address ${given} is not a legal URL: look for spaces, and a port above 65535`);
  const { protocol, host, hostname, pathname } = url;
  if (/^wss?:$/.test(protocol) || /^\/w[st]$/.test(pathname))
    badOption(
      `the address ${given} is that of a socket: pass the origin, "${protocol.replace("ws", "http")}//${host}"`,
    );
  if (!/^https?:$/.test(protocol)) badOption(`the address ${given} must begin with https:// or http://`);
  if (protocol === "http:" && !allowPlaintext && !isLoopback(hostname))
    badOption(
      `the address ${given} would show the token on the way: use https://, or set allowPlaintext where that is safe`,
    );
  return url;
}

/** isLoopback says whether a URL's host is this machine. */
export function isLoopback(host: string): boolean {
  return /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(host);
}

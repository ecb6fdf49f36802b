// Gives access tokens to the web examples, and serves them. The master token
// stays here: a browser gets a token for 15 minutes, with the grants that it
// needs.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { TokenAdmin } from "@millrace/client/admin";

const LISTEN = new URL("http://localhost:3000");
const EDGE = "http://localhost:8080"; // of make dev

// Lets pages load their own files, and connect to this backend and the edge.
const POLICY =
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${EDGE} ` +
  `${EDGE.replace("http", "ws")}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;

const admin = new TokenAdmin(EDGE, process.env.MILLRACE_MASTER_TOKEN);

// Answers with what the SDK's tokenProvider returns. The subject of the token is who
// it is for: what is published with it says so to all who ask, and the chat shows who
// is here. Who has none may only read the chat.
async function giveToken(request, response) {
  if (request.headers["sec-fetch-site"] !== "same-origin") {
    response.writeHead(403).end("for our own pages alone\n");
    return;
  }
  // Your own login belongs here: it decides who gets a token, and for what, and knows
  // from the session who asks. Here it is whoever runs this machine, by any name.
  const name = new URLSearchParams(await bodyOf(request)).get("name")?.trim() ?? "";
  if (Buffer.byteLength(name) > 128 || /\p{Cc}/u.test(name)) {
    response.writeHead(400).end("a name has at most 128 bytes\n");
    return;
  }
  const channels = ["cursors.*", "news.#"];
  try {
    const { token, expiresIn } = await admin.issue({
      createdBy: "backend-node",
      subject: name || undefined,
      expiresIn: "15m",
      grants: [
        {
          tenants: ["demo.room"],
          publish: name ? [...channels, "chat.*"] : channels,
          subscribe: [...channels, "chat.*"],
          history: ["chat.*"],
          presence: ["chat.*"],
        },
      ],
    });
    response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-store" });
    response.end(JSON.stringify({ token, expiresIn }));
  } catch (error) {
    console.error(error.message); // for us; the browser need not know
    response.writeHead(503).end("no token can be had now\n");
  }
}

// The first 1,000 bytes of what a page sends, at least.
async function bodyOf(request) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > 1000) break;
  }
  return body;
}

const FOLDERS = { "/sdk/": "sdk/js/dist", "/": "examples/web" };
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css" };

async function serveFile(request, response) {
  const { pathname } = new URL(request.url, LISTEN);
  const prefix = Object.keys(FOLDERS).find((start) => pathname.startsWith(start));
  const name = normalize(`/${pathname.slice(prefix.length)}${pathname.endsWith("/") ? "index.html" : ""}`);
  try {
    const content = await readFile(join(FOLDERS[prefix], name));
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": POLICY }).end(content);
  } catch {
    response.writeHead(404).end("not found\n");
  }
}

createServer((request, response) => {
  if (request.method === "POST" && request.url === "/token") giveToken(request, response);
  else if (request.method === "GET") serveFile(request, response);
  else response.writeHead(405).end();
}).listen(LISTEN.port, LISTEN.hostname, () => console.log(`open ${LISTEN.origin}`));

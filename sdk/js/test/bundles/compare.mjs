// What a page has to load of this package and of its peers: each bundled with Vite as an application's page, in one run.
// By hand: npm run compare. It takes what is built, and fails where the core is above its budget.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, version } from "vite";
import manifest from "./package.json" with { type: "json" };

const BUDGET = 16_384; // bytes of the core, compressed
const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "../../dist");
const add = (...names) => names.map((name) => `import "${dist}/add/${name}.js";`).join(" ");
const core = `import { connect } from "${dist}/core.js"; globalThis.use = connect;`;
const pages = {
  "@millrace/client/core": core,
  "  and history": core + add("history"),
  "  and presence": core + add("presence"),
  "  and moves": core + add("moves"),
  "  and webtransport": core + add("webtransport"),
  "@millrace/client": `import { connect } from "${dist}/index.js"; globalThis.use = connect;`,
  "socket.io-client": 'import { io } from "socket.io-client"; globalThis.use = io;',
  "@supabase/realtime-js": 'import { RealtimeClient } from "@supabase/realtime-js"; globalThis.use = RealtimeClient;',
  "pusher-js": 'import Pusher from "pusher-js"; globalThis.use = Pusher;',
  centrifuge: 'import { Centrifuge } from "centrifuge"; globalThis.use = Centrifuge;',
  ably: 'import { Realtime } from "ably"; globalThis.use = Realtime;',
};

async function bundle(code) {
  const entry = join(here, "page.js"); // there is no such file
  const plugin = {
    name: "page",
    resolveId: (id) => (id === entry ? id : undefined),
    load: (id) => (id === entry ? code : undefined),
  };
  const { output } = await build({
    configFile: false,
    logLevel: "error",
    root: here,
    build: { write: false, modulePreload: false, rollupOptions: { input: entry } },
    plugins: [plugin],
  });
  return output.map((chunk) => chunk.code ?? "").join("");
}

console.log(`Vite ${version}\n${"".padEnd(24)}version    bytes  gzip`);
for (const [name, code] of Object.entries(pages)) {
  const text = await bundle(code);
  const size = gzipSync(text, { level: 9 }).length;
  const pinned = manifest.dependencies[name] ?? "";
  console.log(name.padEnd(24) + pinned.padEnd(9) + `${text.length}`.padStart(7) + `${size}`.padStart(6));
  if (name === "@millrace/client/core" && size > BUDGET) process.exitCode = 1;
}

// What a page has to load that has React and the client already: bundles with
// esbuild, minified, and compressed, with this package and without. Fails above the limit.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 3840;
const resolveDir = fileURLToPath(new URL("../dist/", import.meta.url));

async function size(...modules) {
  const { outputFiles } = await build({
    stdin: { contents: modules.map((name) => `export * from ${JSON.stringify(name)};`).join(""), resolveDir },
    external: ["react"],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

const client = await size("@millrace/client");
const both = await size("@millrace/client", "./index.js");
console.log(`@millrace/react: compressed ${both - client} beside the client's ${client}, limit ${LIMIT}`);
if (both - client > LIMIT) process.exitCode = 1;

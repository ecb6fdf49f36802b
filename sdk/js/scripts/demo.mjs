// Makes the demo page's copy of this package, one file that needs no build
// there. With --check it only says whether that file is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const target = path("../../../caddymodule/demo/page/millrace.js");
const { outputFiles } = await build({
  entryPoints: [path("../dist/index.js")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  lineLimit: 120,
  banner: {
    js: "// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.\n// The package @millrace/client, Apache-2.0.",
  },
  write: false,
});
const text = outputFiles[0].text;

if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) {
  console.error("caddymodule/demo/page/millrace.js is stale: npm run build && npm run demo");
  process.exitCode = 1;
}

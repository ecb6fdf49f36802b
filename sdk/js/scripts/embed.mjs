// Makes the files of this package that an edge serves: a script with the global `millrace`,
// and a module. With --check it only says whether they are up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = "caddymodule/sdk";

for (const [file, options] of Object.entries({
  "millrace.js": { format: "iife", globalName: "millrace" },
  "millrace.mjs": { format: "esm" },
})) {
  const { outputFiles } = await build({
    entryPoints: [path("../dist/index.js")],
    bundle: true,
    minify: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    lineLimit: 120,
    banner: {
      js: "// Generated from sdk/js by `npm run build && npm run embed` there. Do not edit.\n// The package @millrace/client, Apache-2.0.",
    },
    write: false,
    ...options,
  });
  const text = outputFiles[0].text;
  const target = path(`../../../${folder}/${file}`);
  if (!process.argv.includes("--check")) writeFileSync(target, text);
  else if (readFileSync(target, "utf8") !== text) {
    console.error(`${folder}/${file} is stale: npm run build && npm run embed`);
    process.exitCode = 1;
  }
}

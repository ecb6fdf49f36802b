// Bundles the page into caddymodule/console/page, which the edge embeds. With --check it
// only says whether the files there are what the sources give. The SDK in sdk/js must be
// built before: its dist is part of the bundle.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const target = path("../../caddymodule/console/page/");
const sdk = path("../../sdk/js/dist/index.js");
if (!existsSync(sdk)) {
  console.error("sdk/js is not built: scripts/npm.sh sdk/js build");
  process.exit(1);
}

const { outputFiles } = await build({
  absWorkingDir: path(".."), // comments and the order of modules do not depend on where the checkout is
  entryPoints: { console: "src/main.tsx" },
  outdir: "out",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  lineLimit: 120,
  tsconfigRaw: { compilerOptions: { jsx: "react-jsx", jsxImportSource: "preact" } },
  alias: { "@millrace/client": sdk },
  define: { "process.env.NODE_ENV": '"production"' },
  banner: {
    js: "// Generated from console by `npm run build` there. Do not edit.\n// With Preact (MIT) and @millrace/client (Apache-2.0).",
    css: "/* Generated from console by `npm run build` there. Do not edit. */",
  },
  write: false,
});

const files = new Map(outputFiles.map(({ path: name, text }) => [name.replace(/.*[\\/]/, ""), text]));
for (const name of readdirSync(path("../public"))) files.set(name, readFileSync(path(`../public/${name}`), "utf8"));

// The page's policy refuses them, and only when the code runs.
const banned = /\beval\s*\(|\bnew Function\b|createPolicy|localStorage|sessionStorage|indexedDB/;
const found = banned.exec(files.get("console.js"));
if (found) {
  console.error(`console.js has ${JSON.stringify(found[0])}, which the page must do without`);
  process.exit(1);
}

const there = existsSync(target) ? readdirSync(target) : [];
if (process.argv.includes("--check")) {
  const stale = [...files].filter(
    ([name, text]) => !there.includes(name) || readFileSync(target + name, "utf8") !== text,
  );
  const extra = there.filter((name) => !files.has(name));
  for (const name of [...stale.map(([name]) => name), ...extra]) {
    console.error(`caddymodule/console/page/${name} is stale: scripts/npm.sh console build`);
    process.exitCode = 1;
  }
} else {
  mkdirSync(target, { recursive: true });
  for (const [name, text] of files) writeFileSync(target + name, text);
}

// Bundles, with each version of React, the page that the integration tests open, and
// with the argument test the unit tests. Here react and react-dom are those of version
// 19; 18 has other names.
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const tests = process.argv.includes("test");
const versions = {
  18: { react: "react-18", "react-dom": "react-dom-18" },
  19: {},
};

for (const [version, alias] of Object.entries(versions)) {
  const outdir = path(tests ? `test-out/${version}` : `test-out/page/${version}`);
  rmSync(outdir, { recursive: true, force: true });
  const common = {
    outdir,
    alias: { ...alias, "@millrace/react": path("dist/index.js") },
    bundle: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"development"' }, // StrictMode does nothing in production
    ignoreAnnotations: true, // tests have side effects, whatever the package has
    logLevel: "warning",
  };
  if (!tests) await build({ ...common, entryPoints: [path("test/page.tsx")] });
  else
    await build({
      ...common,
      entryPoints: readdirSync(path("test"))
        .filter((name) => /\.test\.tsx?$/.test(name))
        .map((name) => path(`test/${name}`)),
      outExtension: { ".js": ".mjs" },
      sourcemap: "inline",
      platform: "node",
      external: ["happy-dom", "ws"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    });
}

// What a page has to load: each export bundled with esbuild, minified, and
// compressed. Fails above the limits.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
// The budgets are 31,232 bytes for all and 16,384 for the core as Vite builds them (npm run compare), whose bundles are
// 2.5 % smaller than those of esbuild: these limits keep them.
const all = [
  { name: "@millrace/client", code: 'export * from "./index.js"', limit: 32_256 },
  { name: "@millrace/client/core", code: 'export { connect } from "./core.js"', limit: 16_816 },
  { name: "@millrace/client/admin", code: 'export * from "./admin.js"', limit: 6272 },
  { name: "MillraceError alone", code: 'export { MillraceError } from "./index.js"', limit: 560 },
];

for (const { name, code, limit } of all) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: dist },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  const plain = outputFiles[0].contents;
  const size = gzipSync(plain, { level: 9 }).length;
  console.log(`${name}: ${plain.length} bytes, compressed ${size}, limit ${limit}`);
  if (size > limit) process.exitCode = 1;
}

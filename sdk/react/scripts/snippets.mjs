// Writes the examples of README.md and docs/clients.md into test-out/snippets, where
// `npm test` compiles them as they are.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const out = new URL("../test-out/snippets/", import.meta.url);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [name, file] of [
  ["readme", "../README.md"],
  ["docs", "../../../docs/clients.md"],
]) {
  const found = [...readFileSync(new URL(file, import.meta.url), "utf8").matchAll(/```tsx\n(.*?)```/gs)];
  if (found.length !== 1) throw new Error(`${file} has ${found.length} examples, want 1`);
  writeFileSync(new URL(`${name}.tsx`, out), found[0][1]);
}

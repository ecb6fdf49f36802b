// Writes the examples of README.md and docs/clients.md into test-out/snippets, where
// `npm test` compiles them as they are.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const out = new URL("../test-out/snippets/", import.meta.url);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [name, file, want] of [
  ["readme", "../README.md", 1],
  ["docs", "../../../docs/clients.md", 2],
]) {
  const found = [...readFileSync(new URL(file, import.meta.url), "utf8").matchAll(/```tsx\n(.*?)```/gs)];
  if (found.length !== want) throw new Error(`${file} has ${found.length} examples, want ${want}`);
  for (const [i, [, code]] of found.entries()) writeFileSync(new URL(`${name}-${i + 1}.tsx`, out), code);
}

// Writes the examples of pages, which are the arguments, into test-out/snippets of the current
// folder, where `npm test` compiles them. What only a whole program has is declared: its client.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const given = `import type { Client as TheClient } from "@millrace/client";
declare const client: TheClient, token: string;
declare const process: { env: { [name: string]: string | undefined } };
`;

const out = "test-out/snippets";
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const page of process.argv.slice(2)) {
  const found = [...readFileSync(page, "utf8").matchAll(/```(tsx?)\n(.*?)```/gs)];
  if (found.length === 0) throw new Error(`${page} has no examples`);
  for (const [i, [, kind, code]] of found.entries()) {
    const [imports] = /^(import .*\n)*/.exec(code);
    const whole = kind === "tsx" ? code : `${given}${imports}{\n${code.slice(imports.length)}}\n`;
    writeFileSync(`${out}/${basename(page, ".md")}-${i + 1}.${kind}`, whole);
  }
}

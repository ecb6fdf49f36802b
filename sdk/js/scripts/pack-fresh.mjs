// Packs a copy in which nothing has been built, as a fresh checkout is after npm ci,
// and looks whether the code is in the package.
import { execSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "millrace-pack-"));
try {
  const left = ["node_modules", "dist", "test-out", "docs"]; // as .gitignore of the repository names them
  cpSync(root, copy, { recursive: true, filter: (from) => !left.includes(basename(from)) });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const [{ files }] = JSON.parse(execSync("npm pack --json", { cwd: copy, stdio: ["ignore", "pipe", 2] }));
  const packed = files.map(({ path }) => path);
  for (const name of ["dist/index.js", "dist/index.d.ts", "dist/admin.js", "src/index.ts", "README.md"]) {
    if (packed.includes(name)) continue;
    console.error(`npm pack of a fresh checkout lacks ${name}`);
    process.exitCode = 1;
  }
  if (packed.some((name) => /^(test|scripts|node_modules)/.test(name))) {
    console.error("npm pack packs what is not for users");
    process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}

// Installs what the lock file names, if that has not been done.
import { execSync } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";

process.chdir(new URL(".", import.meta.url).pathname);
const [lock, stamp] = ["package-lock.json", "node_modules/.installed-from"];
if (!existsSync(stamp) || !readFileSync(lock).equals(readFileSync(stamp))) {
  execSync("npm ci --no-audit --no-fund --loglevel=error --ignore-scripts --legacy-peer-deps", { stdio: "inherit" });
  cpSync(lock, stamp);
}

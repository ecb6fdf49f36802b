// Builds the package before it is packed, unless what is built is up to date: a
// build while others use dist would take it away from them.
import { execSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";

const root = new URL("../", import.meta.url);
const time = (name) => statSync(new URL(name, root)).mtimeMs;
const sources = readdirSync(new URL("src/", root));
const built = (name) => `dist/${name.replace(/ts$/, "js")}`;

function upToDate() {
  if (!existsSync(new URL("dist/", root))) return false;
  const there = readdirSync(new URL("dist/", root)).filter((name) => /js$/.test(name));
  const newest = Math.max(...["package.json", "tsconfig.json", ...sources.map((name) => `src/${name}`)].map(time));
  return (
    there.length === sources.length &&
    sources.every((name) => existsSync(new URL(built(name), root)) && time(built(name)) >= newest)
  );
}

// What npm pack prints is its own.
if (!upToDate()) execSync("npm run --silent build", { cwd: root, stdio: ["ignore", 2, 2] });

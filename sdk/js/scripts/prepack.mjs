// Builds the package before it is packed, unless what is built is up to date: a
// build while others use dist would take it away from them.
import { execSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";

const root = new URL("../", import.meta.url);
const time = (name) => statSync(new URL(name, root)).mtimeMs;
const sources = readdirSync(new URL("src/", root)).map((name) => name.replace(/\.ts$/, ""));

function upToDate() {
  if (!existsSync(new URL("dist/", root))) return false;
  const built = readdirSync(new URL("dist/", root)).filter((name) => name.endsWith(".js"));
  const newest = Math.max(...["package.json", "tsconfig.json", ...sources.map((name) => `src/${name}.ts`)].map(time));
  return (
    built.length === sources.length &&
    sources.every((name) => built.includes(`${name}.js`) && time(`dist/${name}.js`) >= newest)
  );
}

// What npm pack prints is its own.
if (!upToDate()) execSync("npm run --silent build", { cwd: root, stdio: ["ignore", 2, 2] });

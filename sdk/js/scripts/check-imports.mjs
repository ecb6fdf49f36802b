// Fails when modules of a folder, which is the argument, import each other in a
// circle, and prints each circle that it finds. Imports of types count, too: in a
// circle, no module can be understood, or tested, without the others.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";

const [folder] = process.argv.slice(2);
const modules = readdirSync(folder, { recursive: true }).filter((name) => /\.c?ts$/.test(name));

// importsOf returns the modules of the folder that one imports, by whatever statement.
function importsOf(module) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, module), "utf8"));
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(posix.dirname(module), fileName).replace(/js$/, "ts"));
}

const imports = new Map(modules.map((module) => [module, importsOf(module)]));
const done = new Set();
const circles = [];

// visit follows all imports in depth: the current one back into path closes a circle.
function visit(module, path) {
  const start = path.indexOf(module);
  if (start >= 0) circles.push([...path.slice(start), module]);
  else if (!done.has(module)) {
    for (const next of imports.get(module) ?? []) visit(next, [...path, module]);
    done.add(module);
  }
}
for (const module of modules) visit(module, []);

for (const circle of circles) console.error(`${folder}: imports go in a circle: ${circle.join(" → ")}`);
if (circles.length > 0) process.exitCode = 1;

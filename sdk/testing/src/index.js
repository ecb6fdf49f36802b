import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { TokenAdmin } from "@millrace/client/admin";

const VARIABLE = "MILLRACE_TESTING"; // where the edge of the global set-up is, for the processes of tests

const HINT =
  "install millrace (https://github.com/millrace/millrace/blob/main/docs/install.md), or name the program in MILLRACE_BIN";

/** findProgram returns the path of the program; the error says what to do. */
export function findProgram(given = process.env.MILLRACE_BIN, path = process.env.PATH ?? "") {
  const names = process.platform === "win32" ? ["millrace.exe"] : ["millrace"];
  const all = given ? [given] : path.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = all.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found) return found;
  throw new Error(given ? `MILLRACE_BIN: ${given} cannot be run: ${HINT}` : `there is no millrace in PATH: ${HINT}`);
}

const edgeOf = (ready) => {
  const admin = new TokenAdmin(ready.http, ready.master_token);
  const all = ["#"];
  return {
    url: ready.http,
    httpsUrl: ready.https,
    caFile: ready.ca_file,
    tenant: ready.tenant,
    token: ready.access_token,
    masterToken: ready.master_token,
    admin,
    issue: (request = {}) =>
      admin.issue({
        createdBy: "test",
        ...(request.expiresAt ? {} : { expiresIn: "1h" }),
        grants: [{ tenants: [ready.tenant], publish: all, subscribe: all, history: all, presence: all }],
        ...request,
      }),
  };
};

export async function start({ program, timeout = 30_000 } = {}) {
  const file = findProgram(program);
  // With its end of the pipe, this process takes the edge with it, however it ends.
  const child = spawn(file, ["pubsub", "dev", "--json", "--token", "--port", "0", "--exit-with-stdin"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.stdin.on("error", () => {}); // it has ended
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaints = (complaints + text).slice(-4000);
  });
  let said = "";
  let timer;
  try {
    const line = await new Promise((resolve, reject) => {
      child.once("error", reject);
      ended.then((code) => reject(new Error(`it ended with ${code}`)));
      timer = setTimeout(() => reject(new Error(`it does not serve within ${timeout} ms`)), timeout);
      child.stdout.setEncoding("utf8").on("data", (text) => {
        said += text;
        const end = said.indexOf("\n");
        if (end >= 0) resolve(said.slice(0, end));
      });
    });
    const ready = JSON.parse(line);
    const stop = async () => {
      child.ref(); // whoever waits for the end keeps this process
      child.stdin.end();
      await ended;
    };
    // Neither of them keeps a runner from ending.
    for (const one of [child, child.stdin, child.stdout, child.stderr]) one.unref();
    return Object.assign(edgeOf(ready), { stop, [Symbol.asyncDispose ?? Symbol.for("asyncDispose")]: stop, ready });
  } catch (cause) {
    child.kill();
    throw new Error(`${file} pubsub dev: ${cause.message}${complaints && `:\n${complaints}`}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** setUp starts an edge for all tests of a run; it returns what stops it. */
export async function setUp() {
  const started = await start();
  process.env[VARIABLE] = JSON.stringify(started.ready);
  return async () => {
    delete process.env[VARIABLE];
    await started.stop();
  };
}

export function edge() {
  const ready = process.env[VARIABLE];
  if (!ready)
    throw new Error(
      'no edge was started: set globalSetup to "@millrace/testing/vitest" or "@millrace/testing/jest", see docs/how-to/testing.md',
    );
  return edgeOf(JSON.parse(ready));
}

// A headless browser, chromium or firefox as the argument says, driven by package browser: one
// JSON command a line on stdin, one JSON answer a line on stdout, {"value":…} or {"failed":…}.
// CHROMIUM and FIREFOX name the browsers' programs.
//
// Commands name a tab, a string; tabs of the same context, what stands before
// the slash in it, share their storage:
//
//   {"cmd":"open","tab":…,"url":…,"script":…}               the script runs before the page's own
//   {"cmd":"reload","tab":…}                                 returns when that is done
//   {"cmd":"click","tab":…,"role":…,"name":…}
//   {"cmd":"fill","tab":…,"label":…,"value":…}
//   {"cmd":"move","tab":…,"x":…,"y":…}                      the pointer, to these parts of the window
//   {"cmd":"see","tab":…,"selector":…,"text":…}              waits until an element shows text; its whole text
//   {"cmd":"select","tab":…,"label":…,"value":…}             of a list of options
//   {"cmd":"press","tab":…,"keys":[…]}                      keys as playwright names them; a text of several is typed
//   {"cmd":"window","tab":…,"width":…,"height":…,"scheme":…} its size in pixels, and whether it is light or dark
//   {"cmd":"axe","tab":…}                                    what axe-core finds against WCAG 2.2 AA
//   {"cmd":"picture","tab":…,"path":…}                       a PNG of the window
//   {"cmd":"run","tab":…,"expression":…}                     the expression's value, awaited
//   {"cmd":"until","tab":…,"expression":…}                   waits until the expression is true
//   {"cmd":"heap","tab":…}                                   bytes of the page's objects after a garbage collection
//   {"cmd":"close","context":…}                              returns its console errors, uncaught errors and such
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import playwright from "playwright-core";

// playwright-core stays at 1.59: later ones send a command (emulation.setMediaFeaturesOverride)
// that Firefox ESR 153 does not know.

const PATIENCE = 25_000; // ms; a little less than that of the tests, to say more

const [kind] = process.argv.slice(2);
const kinds = {
  chromium: {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--webtransport-developer-mode", // else a host that failed is asked again after minutes
    ],
  },
  firefox: {
    channel: "moz-firefox", // one that is not patched for playwright, by WebDriver BiDi
    executablePath: process.env.FIREFOX || "/usr/bin/firefox-esr",
    env: { ...process.env, MOZ_REMOTE_SETTINGS_DEVTOOLS: "1" }, // or the server of its settings is not to be changed
    firefoxUserPrefs: {
      "network.proxy.type": 0, // everything is on loopback
      "browser.chrome.site_icons": false, // otherwise it complains of pages without an icon
      "network.captive-portal-service.enabled": false,
      "services.settings.server": "data:,#remote-settings-dummy/v1",
      // Otherwise a host whose WebSockets failed is tried again only after up to a minute.
      "network.websocket.delay-failed-reconnects": false,
    },
  },
};
const browser = await playwright[kind].launch({ ...kinds[kind], timeout: 0 }); // the test has one
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const contexts = new Map(); // name → {context, complaints}
const tabs = new Map(); // name → page

async function contextOf(tab) {
  const [name] = tab.split("/");
  if (!contexts.has(name)) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(PATIENCE);
    if (kind === "chromium") {
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await context.route("**/favicon.ico", (route) => route.fulfill({ status: 204 })); // for pages that name no icon
    }
    const complaints = [];
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    context.on("weberror", (event) => {
      // Messages of Firefox about a page come as errors, too, such as that a connection failed.
      const { name, message } = event.error();
      complaints.push(`${kind === "chromium" || /error|exception/i.test(name) ? "uncaught" : "error"}: ${message}`);
    });
    contexts.set(name, { context, complaints });
  }
  return contexts.get(name).context;
}

// reachable is the topmost dialog, or the page if there is none: a person reaches nothing else.
async function reachable(tab) {
  const dialogs = tabs.get(tab).locator("dialog[open]");
  const open = await dialogs.count();
  return open > 0 ? dialogs.nth(open - 1) : tabs.get(tab);
}

const field = async (tab, label) => (await reachable(tab)).getByLabel(label, { exact: true });

const commands = {
  async open({ tab, url, script }) {
    const page = await (await contextOf(tab)).newPage();
    tabs.set(tab, page);
    await page.addInitScript(script);
    const answer = await page.goto(url);
    return answer.status();
  },
  async reload({ tab }) {
    await tabs.get(tab).reload();
  },
  async click({ tab, role, name }) {
    await tabs.get(tab).bringToFront(); // one behind draws once a second, which a click waits for
    await (await reachable(tab)).getByRole(role, { name, exact: true }).click();
  },
  async fill({ tab, label, value }) {
    await (await field(tab, label)).fill(value);
  },
  async move({ tab, x, y }) {
    const page = tabs.get(tab);
    await page.bringToFront();
    const { width, height } = page.viewportSize();
    await page.mouse.move(x * width, y * height);
  },
  async see({ tab, selector, text }) {
    const found = tabs.get(tab).locator(selector).filter({ hasText: text, visible: true }).first();
    try {
      await found.waitFor();
    } catch (err) {
      const shown = await tabs.get(tab).locator(selector).allInnerTexts();
      throw new Error(`${selector} does not show ${JSON.stringify(text)} but ${JSON.stringify(shown)}`, { cause: err });
    }
    return found.innerText();
  },
  select: async ({ tab, label, value }) => (await field(tab, label)).selectOption(value),
  async press({ tab, keys }) {
    const page = tabs.get(tab);
    await page.bringToFront();
    for (const key of keys) {
      if (/^[A-Z][A-Za-z0-9]*(\+|$)/.test(key)) await page.keyboard.press(key);
      else await page.keyboard.insertText(key);
    }
  },
  async window({ tab, width, height, scheme }) {
    await tabs.get(tab).setViewportSize({ width, height });
    await tabs.get(tab).emulateMedia({ colorScheme: scheme });
  },
  async axe({ tab }) {
    const page = tabs.get(tab);
    await page.evaluate(axeSource);
    return page.evaluate(async () => {
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      const { violations } = await globalThis.axe.run({ runOnly: { type: "tag", values: tags } });
      return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 200)).join(" ; ")}`);
    });
  },
  picture: ({ tab, path }) => tabs.get(tab).screenshot({ path, animations: "disabled" }).then(() => true),
  run: ({ tab, expression }) => tabs.get(tab).evaluate(expression),
  // By the clock: a tab behind another draws no frames to look in. And not by waitForFunction,
  // which evaluates in the page what its policy may forbid.
  async until({ tab, expression }) {
    for (const end = Date.now() + PATIENCE; !(await tabs.get(tab).evaluate(expression)); ) {
      if (Date.now() > end) throw new Error(`waited in vain for ${expression}`);
      await new Promise((done) => setTimeout(done, 50));
    }
    return true;
  },
  async heap({ tab }) {
    const session = await tabs.get(tab).context().newCDPSession(tabs.get(tab));
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    await session.detach();
    return usedSize;
  },
  async close({ context }) {
    const { context: closing, complaints } = contexts.get(context) ?? { complaints: [] }; // nothing was opened
    const found = [...complaints];
    await closing?.close();
    contexts.delete(context);
    return found;
  },
};

const emit = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { cmd, ...rest } = JSON.parse(line);
    try {
      emit({ value: (await commands[cmd](rest)) ?? null });
    } catch (err) {
      emit({ failed: err.message });
    }
  }
} finally {
  await browser.close(); // and its processes
}

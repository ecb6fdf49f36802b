// Headless Chromium, driven by fixture_chromium_test.go: one JSON command a line
// on stdin, one JSON answer a line on stdout, {"event":"done","value":…} or
// {"event":"failed","text":…}. The environment's CHROMIUM names the browser.
//
// Commands name a tab, a string; tabs of the same context, what stands before
// the slash in it, share their storage:
//
//   {"cmd":"open","tab":…,"url":…,"script":…}               the script runs before the page's own
//   {"cmd":"click","tab":…,"role":…,"name":…}
//   {"cmd":"fill","tab":…,"label":…,"value":…}
//   {"cmd":"move","tab":…,"x":…,"y":…}                      the pointer, to these parts of the window
//   {"cmd":"see","tab":…,"selector":…,"text":…}              waits until an element shows text; its whole text
//   {"cmd":"run","tab":…,"expression":…}                     the expression's value, awaited
//   {"cmd":"until","tab":…,"expression":…}                   waits until the expression is true
//   {"cmd":"complaints","context":…}                         console errors, uncaught errors and such, so far
//   {"cmd":"close","context":…}
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const PATIENCE = 25_000; // ms; a little less than that of the tests, to say more

const browser = await chromium.launch({
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
});
const contexts = new Map(); // name → {context, complaints}
const tabs = new Map(); // name → page

async function contextOf(tab) {
  const [name] = tab.split("/");
  if (!contexts.has(name)) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(PATIENCE);
    await context.route("**/favicon.ico", (route) => route.fulfill({ status: 204 })); // for pages that name no icon
    const complaints = [];
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    context.on("weberror", (event) => complaints.push(`uncaught: ${event.error().message}`));
    contexts.set(name, { context, complaints });
  }
  return contexts.get(name).context;
}

const commands = {
  async open({ tab, url, script }) {
    const page = await (await contextOf(tab)).newPage();
    tabs.set(tab, page);
    await page.addInitScript(script);
    const answer = await page.goto(url);
    return answer.status();
  },
  async click({ tab, role, name }) {
    await tabs.get(tab).bringToFront(); // one behind draws once a second, which a click waits for
    await tabs.get(tab).getByRole(role, { name, exact: true }).click();
  },
  async fill({ tab, label, value }) {
    await tabs.get(tab).getByLabel(label, { exact: true }).fill(value);
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
  run: ({ tab, expression }) => tabs.get(tab).evaluate(expression),
  // By the clock: a tab behind another draws no frames to look in.
  until: ({ tab, expression }) => tabs.get(tab).waitForFunction(expression, null, { polling: 50 }).then(() => true),
  complaints: ({ context }) => contexts.get(context)?.complaints ?? [], // none: nothing was opened
  async close({ context }) {
    await contexts.get(context)?.context.close();
    contexts.delete(context);
  },
};

const emit = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { cmd, ...rest } = JSON.parse(line);
    try {
      emit({ event: "done", value: (await commands[cmd](rest)) ?? null });
    } catch (err) {
      emit({ event: "failed", text: `${cmd}: ${err.message}` });
    }
  }
} finally {
  await browser.close(); // and its processes
}

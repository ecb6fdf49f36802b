// What each bundler bundles: a backend, or a page, or an app, that talks to itself over an edge.
import { connect } from "@millrace/client";

// The names of globals are not inlined by bundlers.
const { edgeUrl, options, report } = globalThis.millraceTest;

async function main() {
  if (globalThis.millraceTest.silentUrl) {
    const silent = connect(globalThis.millraceTest.silentUrl, { token: "AT_1", connectTimeout: 200 });
    const err = await silent.catch((err) => err);
    if (err.code !== "timeout") throw err;
  }
  const client = await connect(edgeUrl, { token: "AT_1", ...options });
  const got = new Promise((resolve) => {
    client.subscribe("t", "c", { onMessage: resolve }).then(() => client.publish("t", "c", "hello"));
  });
  const text = (await got).text();
  const sub = await client.subscribe("t", "d");
  client.publish("t", "d", "again");
  for await (const message of sub) {
    await sub.unsubscribe();
    await client.close();
    return `${text} ${message.text()}`;
  }
}
main().then(report, (err) => report(`failed: ${err?.message || err}`));

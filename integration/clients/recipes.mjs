// What the test does with the functions of docs/recipes.md, which stand above this
// in the module that the test makes of both. Prints a line for each thing that works.

import assert from "node:assert/strict";

const open = [];
async function join(user, name, rights = {}) {
  const client = await enter(user, name, () => tokenFor(user, { name, ...rights }));
  open.push(client);
  return client;
}
const next = async (subscription) => (await subscription[Symbol.asyncIterator]().next()).value;
const once = (client, event) => new Promise((resolve) => client.on(event, resolve));

// Who sent a message; "*" is a name like others.
const ada = await join("ada", "lobby");
const star = await join("*", "lobby");
const lines = await ada.subscribe(TENANT, `${room("lobby")}.*`, { history: "last" });
await star.publish(TENANT, `${room("lobby")}.${channelToken("*")}`, "hello", { confirm: true });
assert.equal(sender(await next(lines)), channelToken("*"));
for (const forged of ["ada", "bob"]) {
  await assert.rejects(
    star.publish(TENANT, `${room("lobby")}.${forged}`, "I am not who I am", { confirm: true }),
    (err) => err.code === "permission_denied",
  );
}
console.log("sender");

// A read-only room.
const reader = await join("rita", "lobby", { readOnly: true });
await assert.rejects(
  reader.publish(TENANT, `${room("lobby")}.rita`, "no", { confirm: true }),
  (err) => err.code === "permission_denied",
);
await reader.close();
console.log("read-only");

// New rights at once: rita may write now.
const backendToken = await admin.issue({
  createdBy: "chat",
  expiresIn: "15m",
  grants: [{ tenants: [TENANT], publish: ["users.*"] }],
});
const backend = await connect(EDGE, { token: backendToken.token });
open.push(backend);
const may = { readOnly: true };
const rita = await enter("rita", "lobby", () => tokenFor("rita", { name: "lobby", ...may }));
open.push(rita);
may.readOnly = false;
const [{ token: readOnlyToken }] = issued.get("rita").slice(-1);
const moved = once(rita, "moved");
const revokeBefore = await changeRights(backend, "rita");
assert.equal((await moved).reason, "token");
await revokeBefore();
await rita.publish(TENANT, `${room("lobby")}.rita`, "thank you", { confirm: true });
await assert.rejects(connect(EDGE, { token: readOnlyToken }), (err) => err.code === "unauthorized");
console.log("rights");

// Who is here.
const here = new Map();
await present(ada, "ada", "lobby", here, 100);
await present(star, "*", "lobby", new Map(), 100);
const told = once(ada, "closed");
while (!(here.has("ada") && here.has(channelToken("*")))) await new Promise((resolve) => setTimeout(resolve, 20));
await star.close();
while (here.has(channelToken("*"))) await new Promise((resolve) => setTimeout(resolve, 20));
console.log("presence");

// Kicked.
await kick("ada");
assert.equal((await told).error.code, "token_revoked");
await assert.rejects(tokenFor("ada", { name: "lobby" }));
console.log("kicked");

for (const client of open) await client.close();

// What the test does with the functions of docs/recipes.md, which stand above this
// in the module that the test makes of both. Prints a line for each thing that works.

import assert from "node:assert/strict";

const open = [];
async function join(user, name, rights = {}, show = () => {}) {
  const client = await enter(name, () => tokenFor(user, { name, ...rights }), show);
  open.push(client);
  await listen(client, user);
  return client;
}
const once = (client, event) => new Promise((resolve) => client.on(event, resolve));

// Who sent a message; "*" is a name like others, and what a payload says counts for nothing.
let said;
const heard = new Promise((resolve) => (said = resolve));
const ada = await join("ada", "lobby", {}, (sender, text) => text.includes("ada") && said(sender));
const star = await join("*", "lobby");
await star.publish(TENANT, room("lobby"), JSON.stringify({ sender: "ada", text: "I am ada" }), { confirm: true });
assert.equal(await heard, "*");
const late = await new Promise((resolve) => join("cleo", "lobby", {}, resolve));
assert.equal(late, "*");
console.log("sender");

// A read-only room.
const reader = await join("rita", "lobby", { readOnly: true });
await assert.rejects(
  reader.publish(TENANT, room("lobby"), "no", { confirm: true }),
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
let readOnlyToken;
const rita = await enter("lobby", async () => {
  const answer = await tokenFor("rita", { name: "lobby", ...may });
  readOnlyToken ??= answer.token;
  return answer;
}, () => {});
open.push(rita);
await listen(rita, "rita");
may.readOnly = false;
const moved = once(rita, "moved");
const revokeBefore = await changeRights(backend, "rita");
assert.equal((await moved).reason, "token");
await revokeBefore();
await rita.publish(TENANT, room("lobby"), "thank you", { confirm: true });
await assert.rejects(connect(EDGE, { token: readOnlyToken }), (err) => err.code === "unauthorized");
console.log("rights");

// Who is here.
let here = "";
let look = () => {};
const see = (users) => new Promise((resolve) => {
  look = () => here === users && resolve();
  look();
});
await present(ada, "lobby", (users) => {
  here = users.join(" ");
  look();
});
await see("ada");
await present(star, "lobby", () => {});
await see("* ada");
const told = once(ada, "closed");
await star.close();
await see("ada");
console.log("presence");

// Kicked, and the token with it that is issued meanwhile.
const another = tokenFor("ada", { name: "lobby" }).then(({ token }) => token, () => ""); // it may be refused at once
assert.ok((await kick("ada")) >= 1);
assert.equal((await told).error.code, "token_revoked");
const kept = await another;
if (kept) await assert.rejects(connect(EDGE, { token: kept }), (err) => err.code === "unauthorized");
await assert.rejects(tokenFor("ada", { name: "lobby" }));
assert.equal(await kick("nobody"), 0);
console.log("kicked");

for (const client of open) await client.close();

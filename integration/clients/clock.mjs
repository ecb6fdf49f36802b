// A backend and a client on a machine whose clock is wrong: EDGE and MILLRACE_MASTER_TOKEN say where. Prints what
// came of it as JSON.
import { connect } from "@millrace/client";
import { TokenAdmin } from "@millrace/client/admin";

const { EDGE, MILLRACE_MASTER_TOKEN: master } = process.env;
const admin = new TokenAdmin(EDGE, master);
const grants = [{ tenants: ["t"], publish: ["c"], subscribe: ["c"] }];
const day = await admin.issue({ createdBy: "clock", expiresIn: "24h", grants });
const more = await admin.issue({ createdBy: "clock", expiresIn: "25h", grants });
const expiresAt = new Date(Date.now() + 86_400_000 * (process.env.FAKETIME.startsWith("+") ? 1 : 0) + 1000);
const refusal = await admin.issue({ createdBy: "clock", expiresAt, grants }).catch((error) => error.message);

// What the edge answers is handed on as it is.
let asked = 0;
async function tokenProvider() {
  asked++;
  const right = { expires_in: 7, tenant_grants: [{ tenant_ids: ["t"], allow_channels_sub: ["c"] }] };
  const answer = await fetch(`${EDGE}/v1/get-token`, {
    method: "POST",
    headers: { Authorization: `Bearer ${master}`, "Content-Type": "application/json" },
    body: JSON.stringify({ created_by: "clock", right }),
  });
  return answer.json();
}
let lost = 0;
const client = await connect(EDGE, { tokenProvider, transports: ["websocket"] });
client.on("disconnected", () => lost++);
await new Promise((resolve) => setTimeout(resolve, 9000));
await client.close();
const clamped = [day.clamped, more.clamped, day.expiresIn, more.expiresIn];
console.log(JSON.stringify({ clamped, refusal, asked, lost, now: Date.now() }));

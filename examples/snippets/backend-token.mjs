// Issues an access token for 15 minutes, and prints it.
import { TokenAdmin } from "@millrace/client/admin";

const admin = new TokenAdmin("http://localhost:8080", process.env.MILLRACE_MASTER_TOKEN);
const { token } = await admin.issue({
  createdBy: "backend",
  expiresIn: "15m",
  grants: [{ tenants: ["demo.room"], publish: ["news.#", "jobs.*"], subscribe: ["news.#", "jobs.*"] }],
});
console.log(token);

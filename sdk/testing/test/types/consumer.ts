// What an application's tests say to this package: compiled, not run.
import type { IssuedToken } from "@millrace/client/admin";
import { type Edge, edge, type StartedEdge, start } from "@millrace/testing";
import setUp from "@millrace/testing/vitest";

export async function test(): Promise<void> {
  const { url, tenant, token, masterToken, httpsUrl, caFile, admin, issue }: Edge = edge();
  const issued: IssuedToken = await issue({ subject: "ada", grants: [{ tenants: [tenant], publish: ["chat.#"] }] });
  await admin.revokeById(issued.tokenId);
  const texts: string[] = [url, token, masterToken, httpsUrl, caFile, issued.token];
  // @ts-expect-error: an option that does not exist
  await issue({ subjekt: texts[0] });
}

export async function others(): Promise<void> {
  const started: StartedEdge = await start({ program: "millrace", timeout: 5000 });
  await started.stop();
  const tearDown: () => Promise<void> = await setUp();
  await tearDown();
}

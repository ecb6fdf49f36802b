// The global set-up of Jest: `globalSetup: "@millrace/testing/jest"`.
import { setUp } from "./index.js";

export default async () => {
  globalThis.millraceTearDown = await setUp();
};

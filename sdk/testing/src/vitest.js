// The global set-up of Vitest: `globalSetup: "@millrace/testing/vitest"`.
import { setUp } from "./index.js";

export default setUp;

// Has the tests find the SDK of this checkout, as an application's find the one that it has installed.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
mkdirSync(path("../node_modules/@millrace"), { recursive: true });
rmSync(path("../node_modules/@millrace/client"), { force: true });
symlinkSync(path("../../js"), path("../node_modules/@millrace/client"), "dir");

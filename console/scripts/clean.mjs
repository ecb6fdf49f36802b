// Empties test-out: a test whose source is gone must not run.
import { rmSync } from "node:fs";

rmSync(new URL("../test-out", import.meta.url), { recursive: true, force: true });

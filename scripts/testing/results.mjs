// A reporter for node --test: the results of tests as events of "go test -json", which
// internal/testreport reads. Without subtests.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default async function* results(source) {
  for await (const { type, data } of source) {
    const action = { "test:pass": data.skip ? "skip" : "pass", "test:fail": "fail" }[type];
    if (!action || data.nesting > 0) continue;
    const event = {
      Action: action,
      Package: data.file ? relative(root, data.file) : "",
      Test: data.name,
      Elapsed: data.details.duration_ms / 1000,
    };
    yield `${JSON.stringify(event)}\n`;
  }
}

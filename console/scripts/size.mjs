// What a browser has to load: all files of the page, each compressed. Fails above the limit.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 80 * 1024;
const page = new URL("../../caddymodule/console/page/", import.meta.url);
let total = 0;
for (const name of readdirSync(page).sort()) {
  const plain = readFileSync(new URL(name, page));
  const size = gzipSync(plain, { level: 9 }).length;
  total += size;
  console.log(`${name}: ${plain.length} bytes, compressed ${size}`);
}
console.log(`the page: compressed ${total}, limit ${LIMIT}`);
if (total >= LIMIT) process.exitCode = 1;

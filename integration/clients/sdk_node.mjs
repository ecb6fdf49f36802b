// The driver of the SDK in Node: one command a line on stdin, one report a line on
// stdout; see docs/writing-a-client.md and sdk_driver.mjs.
import { createInterface } from "node:readline";
import * as sdk from "@millrace/client";
import { TokenAdmin } from "@millrace/client/admin";
import { driver } from "./sdk_driver.mjs";

const emit = (report) => process.stdout.write(JSON.stringify(report) + "\n");
const carryOut = driver({ ...sdk, TokenAdmin }, emit);

emit({ event: "hello", transports: ["websocket"] });

for await (const line of createInterface({ input: process.stdin })) carryOut(JSON.parse(line));
process.exit(0); // whatever is still open

// Clients of the SDK in a page of the server in integration/sdk/browser.go, which gives
// the commands, and gets the reports, over a WebSocket; see sdk_driver.mjs.
import * as sdk from "/sdk/index.js";
import { TokenAdmin } from "/sdk/admin.js";
import { driver } from "/clients/sdk_driver.mjs";

const link = new WebSocket(`ws://${location.host}/link${location.search}`);
const carryOut = driver({ ...sdk, TokenAdmin }, (report) => link.send(JSON.stringify(report)));
link.onmessage = ({ data }) => carryOut(JSON.parse(data));

// Starts the page. Its own address says where the API is.
import { render } from "preact";
import { App } from "./app.js";
import "./css/base.css";
import "./css/controls.css";
import "./css/dialogs.css";
import "./css/layout.css";
import "./css/tables.css";
import "./css/screens.css";

const base = new URL(".", import.meta.url);

// Whether the operator did something since the last request.
let active = true;
for (const event of ["keydown", "pointerdown", "pointermove", "wheel"]) {
  addEventListener(event, () => (active = true), { capture: true, passive: true });
}
const takeActivity = (): boolean => {
  const was = active;
  active = false;
  return was;
};

const root = document.getElementById("app");
if (root) render(<App base={base} takeActivity={takeActivity} />, root);

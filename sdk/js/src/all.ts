import { hints } from "./hints.js";
import { Histories } from "./histories.js";
import type { Everything } from "./imported.js";
import { MovingSession } from "./moving.js";
import { Presences } from "./presences.js";
import { RacingDialer } from "./race.js";

/** What `@millrace/client` has beside the core. */
export const all: Everything = {
  history: Histories,
  presence: Presences,
  advice: hints,
  moves: MovingSession,
  webtransport: RacingDialer,
};

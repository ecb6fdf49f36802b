import { Histories } from "./histories.js";
import type { Everything } from "./imported.js";
import { MovingSession } from "./moving.js";
import { Presences } from "./presences.js";
import { RacingDialer } from "./race.js";
import { whole } from "./remedies.js";

/** What `@millrace/client` has beside the core. */
export const all: Everything = {
  history: Histories,
  presence: Presences,
  advice: whole,
  moves: MovingSession,
  webtransport: RacingDialer,
};

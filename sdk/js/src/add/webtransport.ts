/**
 * Adds WebTransport to `@millrace/client/core`, for clients that connect from then on.
 *
 * @packageDocumentation
 */
import { imported } from "../imported.js";
import { RacingDialer } from "../race.js";

imported.webtransport = RacingDialer;

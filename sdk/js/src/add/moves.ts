/**
 * Adds moves to `@millrace/client/core`, for clients that connect from then on: to another edge when one drains, to
 * another connection when one is suspect, and back to WebTransport.
 *
 * @packageDocumentation
 */

import { imported } from "../imported.js";
import { MovingSession } from "../moving.js";

imported.moves = MovingSession;

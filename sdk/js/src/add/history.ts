/**
 * Adds histories and confirmed publishes to `@millrace/client/core`, for clients that connect from then on.
 *
 * @packageDocumentation
 */
import { Histories } from "../histories.js";
import { imported } from "../imported.js";

imported.history = Histories;

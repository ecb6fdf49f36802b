/**
 * Adds memberships and presence to `@millrace/client/core`, for clients that connect from then on.
 *
 * @packageDocumentation
 */
import { imported } from "../imported.js";
import { Presences } from "../presences.js";

imported.presence = Presences;

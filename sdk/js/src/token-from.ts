import { badOption } from "./bad-option.js";
import { LoggedOutError } from "./errors.js";
import type { AccessToken } from "./options.js";

/**
 * tokenFrom makes a token provider of a backend's endpoint: it asks with POST, and `init` as for fetch. The answer is
 * JSON, a token or an object as AccessToken. After 401 and 403 the client ends with `logged_out`; the text of any other
 * refusal is in the error's message.
 */
export const tokenFrom =
  (url: string | URL, init?: RequestInit): (() => Promise<string | AccessToken>) =>
  async () => {
    const response = await fetch(url, { method: "POST", cache: "no-store", ...init });
    const text = (await response.text()).trim();
    const where = String(url).replace(/[?#].*/s, "");
    if (!response.ok) {
      const why = text[0] === "<" ? "" : text.slice(0, 200);
      const error = `${where} answers with HTTP status ${response.status}${why && `: ${why}`}`;
      throw /40[13]/.test(`${response.status}`) ? new LoggedOutError(error) : new Error(error);
    }
    try {
      return JSON.parse(text);
    } catch {
      badOption(`${where} answers with ${text[0] === "<" ? "a page" : "a text"}, not with a token as JSON`);
    }
  };

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
    const where = String(url).replace(/[?#].*/s, "");
    if (/\/\/[^/]*@/.test(where)) badOption("the URL of a token endpoint has no user or password: pass headers");
    const response = await fetch(url, { method: "POST", cache: "no-store", ...init });
    const text = (await textOf(response)).trim();
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

// textOf reads an answer; of one that is much too long no more than it has to.
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    if (text.length > 65_536) {
      void reader.cancel();
      return text.slice(0, 65_536);
    }
  }
}

import type { Settings } from "./options.js";

/** answersPing says whether an edge serves: one that drains answers 503. */
export async function answersPing(url: string, s: Settings, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await s.runtime.fetch(url, s, { cache: "no-store", credentials: "omit", signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** reaches says whether anything answers at a URL, whatever it says. */
export async function reaches(url: string, s: Settings, signal: AbortSignal): Promise<boolean> {
  try {
    await s.runtime.fetch(url, s, { cache: "no-store", credentials: "omit", mode: "no-cors", signal });
    return true;
  } catch {
    return false;
  }
}

import type { Settings } from "./options.js";

/** look fetches a URL and returns the status; 0: nothing answers that a page may read. An edge's ping says `pong`. */
export async function look(url: string, s: Settings, signal: AbortSignal): Promise<{ status: number; pong: boolean }> {
  try {
    const response = await s.runtime.fetch(url, s, { cache: "no-store", credentials: "omit", signal });
    return { status: response.status, pong: response.ok && (await response.text()).trim() === "pong" };
  } catch {
    return { status: 0, pong: false };
  }
}

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

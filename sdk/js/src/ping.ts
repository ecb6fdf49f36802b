/** answersPing says whether an edge serves: one that drains answers 503. */
export async function answersPing(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, { cache: "no-store", credentials: "omit", signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

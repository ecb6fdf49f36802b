// The calls of the page to the edge that served it.

/** post returns the answer; its error is what the edge says. */
export async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    cache: "no-store",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const value = text ? JSON.parse(text) : undefined;
  if (!answer.ok) throw new Error(value?.detail ?? `HTTP status ${answer.status}`);
  return value;
}

/** issue returns a token of a subject, with what is needed to connect. */
export const issue = (subject) => post("/demo/token", { subject });

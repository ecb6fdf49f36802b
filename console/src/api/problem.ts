// Errors of the API, as the page shows them.

/** A refused or failed call. The text is for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;
  readonly status: number; // 0: no answer came
  readonly retryAfter: number; // s; 0: the server does not say

  constructor(code: string, status: number, text: string, retryAfter = 0) {
    super(text);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** problemOf makes an error of an answer that is not a success. */
export async function problemOf(answer: Response): Promise<ApiError> {
  const retryAfter = Number(answer.headers.get("Retry-After")) || 0;
  let body: unknown;
  try {
    body = await answer.json();
  } catch {
    body = undefined;
  }
  const { code, detail, title } = (body ?? {}) as { code?: unknown; detail?: unknown; title?: unknown };
  const said = [detail, title].find((text) => typeof text === "string" && text !== "");
  const text = typeof said === "string" ? said : `the edge answered with the status ${answer.status}`;
  return new ApiError(typeof code === "string" ? code : "unknown", answer.status, text, retryAfter);
}

/** sentence makes a sentence of the detail of a problem. */
export function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?]$/.test(start) ? start : `${start}.`;
}

/** What helps whoever has made a mistake, beside the rule: the whole package has it, the core does not. */
export interface Advice {
  /** nearest asks for the name that was meant; empty: none is near. */
  nearest(given: string, names: readonly string[]): string;
  /** secret says what was given in place of a token. */
  secret(given: unknown): string;
  /** rule says what a name of this kind consists of. */
  rule(kind: string): string;
}

let known: Advice | undefined;

/** advise gives advice from now on. */
export function advise(advice: Advice): void {
  known = advice;
}

/** advice returns it, if there is any. */
export const advice = (): Advice | undefined => known;

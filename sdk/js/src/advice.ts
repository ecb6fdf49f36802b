/** What helps whoever has made a mistake, beside the rule: the whole package has it, the core does not. */
export interface Advice {
  /** nearest asks for the name that was meant; empty: none is near. */
  nearest(given: string, names: readonly string[]): string;
  /** secret says what was given in place of a token. */
  secret(given: unknown, kind: string): string;
  /** address says what is wrong with an address, which is url if that is one. */
  address(given: unknown, url: URL | undefined): string;
  /** denied says in a sentence what a token has in place of what a line asks for: rules, or tenants. */
  denied?(asked: string, names: readonly string[], denial: string): string;
  /** cause says what a cause is. */
  cause?(cause: unknown): string;
  /** rule says what a name of this kind consists of, and which one may be meant. */
  rule(kind: string, given: string): string;
  /** remedy says what to do about a code; text is what is known of it, why a cause, which may replace it. Empty: nothing. */
  remedy?(code: string, text: string, why: string): string;
}

let known: Advice | undefined;

/** advise gives advice from now on: what is whole stays. */
export function advise(advice: Advice): void {
  if (!known?.remedy) known = advice;
}

/** advice returns it, if there is any. */
export const advice = (): Advice | undefined => known;

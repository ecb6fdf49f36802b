// The gate keeps calls that wait for the operator to sign in, or to give the password
// again. Calls that wait for the same share one dialog.
import type { Gate } from "./client.js";

export type Question = "sign-in" | "confirm";

export class OperatorGate implements Gate {
  ended = false;
  #asking: { question: Question; answered: Promise<boolean>; answer: (given: boolean) => void } | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** What is asked now. */
  get question(): Question | undefined {
    return this.#asking?.question;
  }

  signIn(): Promise<boolean> {
    return this.#ask("sign-in");
  }

  confirm(): Promise<boolean> {
    return this.#ask("confirm");
  }

  /** answer ends what is asked: the operator gave it, or declined. */
  answer(given: boolean): void {
    const asking = this.#asking;
    if (!asking) return;
    this.#asking = undefined;
    if (asking.question === "sign-in") this.ended = !given;
    asking.answer(given);
    this.#onChange();
  }

  /** opened says that there is a session again, however it came about. */
  opened(): void {
    this.ended = false;
    this.#onChange();
  }

  async #ask(question: Question): Promise<boolean> {
    const asking = this.#asking;
    if (asking && asking.question !== question) {
      // The session may end while the password is asked: then signing in comes first, and does for both.
      if (question === "sign-in") this.#asking = { ...asking, question };
      this.#onChange();
      return asking.answered;
    }
    if (asking) return asking.answered;
    let answer: (given: boolean) => void = () => {};
    const answered = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    this.#asking = { question, answered, answer };
    this.#onChange();
    return answered;
  }
}

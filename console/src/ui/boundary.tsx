// What is shown in place of a screen that fails.
import { Component, type ComponentChildren } from "preact";
import { sentence } from "../api/problem.js";

interface State {
  readonly error?: unknown;
}

/** Boundary keeps a fault of one screen from the others, and from what is around it. */
export class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = {};

  static override getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div role="alert" class="errors">
        <p class="note bad">
          This screen cannot be shown, which is a fault of the console. {sentence(this.state.error)}
        </p>
        <button type="button" onClick={() => this.setState({ error: undefined })}>
          Try again
        </button>
      </div>
    );
  }
}

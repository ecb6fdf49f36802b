// The page of TestReact in integration: many components that come and go at random, and
// look at what they get. The channels have the numbers 0, 1, 2 and so on; what a
// component gets must have no holes and nothing twice, from its first number to its last.
import type { Message } from "@millrace/client";
import {
  type Connection,
  MillraceProvider,
  type SubscriptionState,
  type TokenProviderProps,
  useConnection,
  useLastValue,
  useSubscription,
} from "@millrace/react";
import { StrictMode, useEffect, useState, version } from "react";
import { createRoot } from "react-dom/client";

interface Setup {
  readonly url: string;
  readonly options: TokenProviderProps["options"];
  readonly tenant: string;
  readonly components: number;
  readonly channels: number;
  readonly linger: number;
}

/** What the test reads and calls. */
interface Soak {
  readonly version: string;
  /** What went wrong, the first few. */
  readonly problems: string[];
  connection: Connection | undefined;
  /** How many messages reducers have got, how often a component has been mounted, and rendered with another result. */
  got: number;
  mounts: number;
  renders: number;
  /** The last number of each component that is mounted, and has one. */
  readonly last: Map<object, { readonly channel: number; readonly number: number }>;
  start(setup: Setup): void;
  /** Mounts and unmounts components at random until it is called again. */
  shuffle(on: boolean): void;
  /** Unmounts all components; without a provider the page has no connection. */
  clear(provider: boolean): void;
  /** What is shown has these last numbers, by channel. */
  reached(numbers: readonly number[]): boolean;
}

const problems: string[] = [];
const last: Soak["last"] = new Map();
const problem = (text: string): void => {
  if (problems.length < 20) problems.push(text);
};
const numberOf = (message: Message): number => Number(message.text());

interface Run {
  readonly first: number | undefined;
  readonly next: number | undefined;
}

// Each message once and in order, or it is a problem. StrictMode must not call it twice.
function follow({ first, next }: Run, message: Message): Run {
  const n = numberOf(message);
  soak.got++;
  if (next !== undefined && n !== next) problem(`a reducer got ${n} of ${message.channel} in place of ${next}`);
  return { first: first ?? n, next: n + 1 };
}
const nothing: Run = { first: undefined, next: undefined };

/** useLook notes what a component shows once React has rendered it. */
function useLook(channel: number, { status, error }: SubscriptionState, number: number | undefined): void {
  const [own] = useState(() => ({ number: -1 }));
  if (status === "ended") problem(`a subscription has ended: ${error}`);
  useEffect(() => {
    soak.renders++;
    if (number === undefined) return;
    if (number < own.number) problem(`a component went back from ${own.number} to ${number}`);
    own.number = number;
    last.set(own, { channel, number });
  }, [channel, number, own]);
  useEffect(() => {
    soak.mounts++;
    if (own.number >= 0) last.set(own, { channel, number: own.number }); // StrictMode has unmounted it
    return () => void last.delete(own);
  }, [channel, own]);
}

interface Place {
  readonly tenant: string;
  readonly channel: number;
}

function Reduced({ tenant, channel }: Place) {
  const run = useSubscription(tenant, `n${channel}.*`, { reducer: follow, initial: nothing });
  useLook(channel, run, run.state.next === undefined ? undefined : run.state.next - 1);
  return <i>{run.state.next}</i>;
}

function Listed({ tenant, channel }: Place) {
  const list = useSubscription(tenant, `n${channel}.*`, { limit: 20 });
  const numbers = list.messages.map(numberOf);
  for (const [i, n] of numbers.entries()) {
    if (i > 0 && n !== (numbers[i - 1] as number) + 1) problem(`a list has ${numbers}`);
  }
  // Since messages come once and in order, this stays the same while the subscription lives.
  const [first, setFirst] = useState<number>();
  const end = numbers.at(-1);
  const now = end === undefined ? undefined : end - list.skipped - numbers.length;
  if (first !== now) {
    if (first !== undefined)
      problem(`a list ends with ${end}, ${list.skipped} before its ${numbers.length}, was ${first}`);
    setFirst(now);
  }
  useLook(channel, list, end);
  return <i>{numbers.join()}</i>;
}

function Newest({ tenant, channel }: Place) {
  const value = useLastValue(tenant, `n${channel}.*`);
  useLook(channel, value, value.message && numberOf(value.message));
  return <i>{value.message?.text()}</i>;
}

const kinds = [Reduced, Listed, Newest];

let show: ((slots: readonly number[]) => void) | undefined;

function Slots({ tenant, channels }: Setup) {
  const [slots, setSlots] = useState<readonly number[]>([]);
  useEffect(() => {
    show = setSlots;
  });
  soak.connection = useConnection();
  return slots.map((slot) => {
    const Kind = kinds[slot % kinds.length] as (place: Place) => React.ReactElement;
    return <Kind key={slot} tenant={tenant} channel={slot % channels} />;
  });
}

let setup: Setup;
let timer: ReturnType<typeof setTimeout> | undefined;
const root = createRoot(document.body.appendChild(document.createElement("div")));
let mounted = new Set<number>();

function step(): void {
  for (let n = Math.ceil(Math.random() * setup.components * 0.2); n > 0; n--) {
    const slot = Math.floor(Math.random() * setup.components);
    if (!mounted.delete(slot)) mounted.add(slot);
  }
  show?.([...mounted]);
  timer = setTimeout(step, Math.random() * 30);
}

const soak: Soak = {
  version,
  problems,
  connection: undefined,
  got: 0,
  mounts: 0,
  renders: 0,
  last,
  start(given) {
    setup = given;
    root.render(
      <StrictMode>
        <MillraceProvider addresses={setup.url} options={setup.options} linger={setup.linger}>
          <Slots {...setup} />
        </MillraceProvider>
      </StrictMode>,
    );
  },
  shuffle(on) {
    clearTimeout(timer);
    if (on) step();
  },
  clear(provider) {
    mounted = new Set();
    if (provider) show?.([]);
    else root.render(null);
  },
  reached: (numbers) =>
    last.size === mounted.size && [...last.values()].every(({ channel, number }) => number === numbers[channel]),
};

Object.assign(globalThis, { soak });

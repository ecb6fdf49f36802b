/** Starts an edge for all tests of a run, and returns what stops it. */
export default function setUp(): Promise<() => Promise<void>>;

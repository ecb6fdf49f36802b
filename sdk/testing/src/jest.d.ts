/** Starts an edge for all tests of a run. */
export default function setUp(): Promise<void>;

/** Ends the edge that the global set-up has started. */
export default function tearDown(): Promise<void>;

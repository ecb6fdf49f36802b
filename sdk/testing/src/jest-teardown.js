// Its end: `globalTeardown: "@millrace/testing/jest-teardown"`.
export default () => globalThis.millraceTearDown?.();

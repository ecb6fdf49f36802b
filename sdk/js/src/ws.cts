// The package ws, or why it cannot be had. Of a require in a try bundlers know that it may miss, and put what they
// find into the same file.
let found: { readonly ws?: unknown; readonly why?: unknown };
try {
  found = { ws: require("ws") };
} catch (why) {
  found = { why };
}
// @ts-expect-error: of CommonJS, for which TypeScript has no syntax that is only types.
export = found;

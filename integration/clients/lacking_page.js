// Makes the browser one whose WebTransport lacks an option, for browser_test.go.
globalThis.lacking = (lacks) => {
  globalThis.WebTransport = class extends WebTransport {
    constructor(url, options) {
      const descriptors = Object.getOwnPropertyDescriptors(options);
      delete descriptors[lacks]; // and does not read it
      super(url, Object.defineProperties({}, descriptors));
    }
  };
};

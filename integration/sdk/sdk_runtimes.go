package sdk

import ()

// Runtimes is Deno and Bun, which run the SDK for TypeScript over their own WebSocket.
var Runtimes = []Kind{{"deno", "websocket"}, {"bun", "websocket"}}

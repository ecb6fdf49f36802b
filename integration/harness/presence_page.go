package harness

// PresencePage is a page that is present in room.1 for as long as it is open, by its browser's
// own WebSocket.
const PresencePage = `<!doctype html><title>here</title><script>
const socket = new WebSocket("ws://" + location.host + "/ws", ["llps.v1", "at." + location.hash.slice(1)])
socket.onopen = () => socket.send("JOIN:paint.a:room.1")
socket.onmessage = event => { if (event.data === "OK:JOIN:paint.a:room.1") document.title = "joined" }
</script>`

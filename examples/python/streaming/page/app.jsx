// Shows an answer while it is written. The id of the answer is in the page's address:
// after a reload, and in another tab, the whole answer is there, and goes on.
import { tokenFrom } from "@millrace/client";
import { MillraceProvider, useConnection, useSubscription } from "@millrace/react";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const EDGE = "http://localhost:8080"; // of make dev
const TENANT = "demo.room";
const options = { tokenProvider: tokenFrom("/token") };

// What has come of an answer so far.
const nothing = { text: "", done: false };
function add(answer, message) {
  const { text = "", done = false } = message.json();
  return { text: answer.text + text, done: answer.done || done };
}
const fromTheBeginning = { last: 100_000 }; // the edge keeps fewer

function Answer({ id }) {
  const { state: answer, error } = useSubscription(TENANT, `chat.answers.${id}`, {
    history: fromTheBeginning,
    reducer: add,
    initial: nothing,
  });
  if (error) return <p role="alert">{error.message}</p>;
  return (
    <article aria-busy={!answer.done}>
      <p id="answer">{answer.text}</p>
      <p id="status">{answer.done ? "That is all." : "Writing…"}</p>
    </article>
  );
}

function Connection() {
  const { state } = useConnection();
  return <p role="status">{state}</p>;
}

function App() {
  const [id, setId] = useState(location.hash.slice(1));
  async function ask(event) {
    event.preventDefault();
    const text = event.target.elements.question.value;
    const response = await fetch("/answers", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text }),
    });
    if (!response.ok) return alert(await response.text());
    const { answer } = await response.json();
    location.hash = answer;
    setId(answer);
  }
  return (
    <>
      <h1>Ask</h1>
      <Connection />
      <form onSubmit={ask}>
        <input name="question" aria-label="Question" required maxLength={500} autoComplete="off" />
        <button>Ask</button>
      </form>
      {/^[0-9a-f]{32}$/.test(id) && <Answer key={id} id={id} />}
    </>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    {/* Everybody is the same user here; with a login, name who is logged in, or null. */}
    <MillraceProvider addresses={EDGE} user="guest" options={options}>
      <App />
    </MillraceProvider>
  </StrictMode>,
);

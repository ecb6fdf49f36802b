// A test publish, over the connection of the live tail.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Form } from "../ui/dialog.js";
import { SelectField, TextField } from "../ui/field.js";
import { useAction } from "../ui/hooks.js";
import type { Delivery, Tail } from "./tail.js";

const deliveries: readonly (readonly [Delivery, string])[] = [
  ["broadcast", "every subscriber"],
  ["one-nearest", "one subscriber, the nearest"],
  ["one-random", "one subscriber, at random"],
];

export function Publish({ tail }: { tail: Tail }): JSX.Element {
  const action = useAction();
  const [channel, setChannel] = useState("");
  const [payload, setPayload] = useState("");
  const [delivery, setDelivery] = useState<Delivery>("broadcast");
  const [sent, setSent] = useState(0);
  const submit = async (): Promise<void> => {
    if (channel === "") throw new Error("name the channel");
    await tail.publish(channel, payload, delivery);
    setSent((n) => n + 1);
  };
  return (
    <section class="card" aria-labelledby="test-publish">
      <h2 id="test-publish">Test publish</h2>
      <Form action={action} submit="Publish" onSubmit={submit}>
        <div class="row">
          <TextField label="Channel" value={channel} onInput={(value) => setChannel(value.trim())} mono />
          <SelectField
            label="To"
            value={delivery}
            onInput={(value) => setDelivery(value as Delivery)}
            options={deliveries}
          />
        </div>
        <TextField label="Payload" value={payload} onInput={setPayload} rows={2} mono />
        <p role="status" class="quiet">
          {sent > 0 && `Sent ${sent === 1 ? "once" : `${sent} times`}. Clients get it like any other message.`}
        </p>
      </Form>
    </section>
  );
}

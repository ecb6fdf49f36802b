// Loads the SDK by the tags of `pubsub sdk`, uses it, and says what has worked.
globalThis.sdkByTags = async (tags, origin, token) => {
  const worked = [];
  const insert = (from) =>
    new Promise((resolve) => {
      const script = document.createElement("script");
      for (const { name, value } of from.attributes) script.setAttribute(name, value);
      script.text = from.text;
      script.onload = () => resolve(true);
      script.onerror = () => resolve(false);
      document.head.append(script);
      if (from.text) resolve(true);
    });
  const publish = async ({ connect }) => {
    const client = await connect(origin, { token });
    await client.publish("demo", "news.a", "x");
    await client.flush();
    await client.close();
  };
  const [script, map] = new DOMParser().parseFromString(tags, "text/html").querySelectorAll("script");
  await insert(map);
  await insert(script);
  await publish(globalThis.millrace);
  worked.push("script");
  await publish(await import("@millrace/client"));
  worked.push("module");
  script.integrity = script.integrity.replace(/-..../, "-AAAA");
  if (!(await insert(script))) worked.push("refused");
  return worked.join(" ");
};

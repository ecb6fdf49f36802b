// A work queue in which no job is lost (docs/how-to/work-queues.md): jobs and what was done are kept in a history, and what was
// not done in time is given out again.
//
//   node queue.mjs add 100       adds 100 jobs
//   node queue.mjs dispatch 30   gives jobs to workers, and again those that are not done after 30 s
//   node queue.mjs work          does jobs, until SIGTERM
import { connect } from "@millrace/client";

const ALL = 100_000; // as many messages as a history gives of one channel
const client = await connect("http://localhost:8080", { token: process.env.MILLRACE_TOKEN });
const queue = client.tenant("demo.room");
const [command, argument] = process.argv.slice(2);

async function add(count) {
  for (let n = 1; n <= count; n++) {
    const job = { id: `${process.pid}-${n}`, kind: "resize", data: "cat.png" };
    await queue.publish("jobs.todo", job, { confirm: true, key: job.id });
  }
}

// Keeps nothing: when it starts again, it reads again what is to do and what is done.
async function dispatch(retryAfter) {
  const open = new Map(); // jobs by id, with the time when a worker last got them
  const finished = new Set(); // ids that came before the job itself was read
  await queue.subscribe("jobs.todo", {
    history: { last: ALL },
    onMessage: (message) => {
      const job = message.json();
      if (!finished.delete(job.id)) open.set(job.id, { job, given: Number.NEGATIVE_INFINITY });
    },
  });
  await queue.subscribe("jobs.done", {
    history: { last: ALL },
    onMessage: (message) => open.delete(message.text()) || finished.add(message.text()),
  });
  for (;;) {
    for (const entry of [...open.values()]) {
      if (performance.now() - entry.given < retryAfter * 1000 || !open.has(entry.job.id)) continue;
      try {
        await queue.publish(`work.${entry.job.kind}`, entry.job, { confirm: true, delivery: "one-random" });
        entry.given = performance.now();
      } catch (error) {
        if (error.code === "no_subscriber" || error.code === "subscribers_busy") break; // wait for workers
        console.warn(error.message); // as when the connection is lost: it is given out again
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// Does one job after the other. A job may come twice: what it does must do no harm then.
async function work() {
  const jobs = await queue.subscribe("work.*", { queue: 1 });
  process.on("SIGTERM", () => jobs.drain()); // finish what has come
  for await (const message of jobs) {
    const job = message.json();
    console.log(`done ${job.id}`);
    await queue.publish("jobs.done", job.id, { confirm: true, key: job.id });
  }
}

const commands = { add, dispatch, work };
if (!(command in commands)) throw new Error("usage: queue.mjs add <jobs> | dispatch <retry after> | work");
await commands[command](Number(argument));
await client.close();

// The driver of the SDK for TypeScript, in Node (sdk_node.mjs) and in a page
// (sdk_page.js). docs/writing-a-client.md says what it takes and reports.
const events = [
  "connected", "suspect", "recovered", "disconnected", "reconnecting", "reconnected", "moving", "moved", "publishError", "publishUnknown",
  "subscriptionError", "slowConsumer", "limited", "discarded", "linkDown", "linkUp", "queueFull", "edgeError", "roundTrip", "closed",
  "gap",
];

export function toBase64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

function plain(error) {
  if (error === undefined || error === null) return undefined;
  const { code = "", tenant, pattern, channel, status, closeCode, cause } = error;
  const text = String(error.message ?? error);
  return { code: String(code), text, tenant, pattern, channel, status, closeCode, cause: plain(cause) };
}

const plainMember = ({ channel, subject, info, since }) => ({ channel, subject, info, since: since.toISOString() });
const state = ({ members, counts, synced }) => ({
  members: members.map(plainMember), counts: Object.fromEntries(counts), synced,
});

// driver returns a function that carries out commands. Each begins at once, in
// the order of the calls.
export function driver({ connect, LoggedOutError, TokenAdmin }, emit) {
  const clients = new Map(); // name → {client, subscriptions, memberships, presences, asked}
  const payload = (command) => fromBase64(command.payload ?? "");

  const commands = {
    async connect({ client: name, addresses, options: { provider, hashes, ...options } }) {
      const state = { subscriptions: new Map(), memberships: new Map(), presences: new Map(), asked: [] };
      clients.set(name, state);
      if (provider) {
        options.tokenProvider = () =>
          new Promise((resolve, reject) => {
            state.asked.push({ resolve, reject });
            emit({ client: name, event: "tokenWanted" });
          });
      }
      if (hashes) {
        options.serverCertificateHashes = hashes.map((hash) => ({ algorithm: "sha-256", value: fromBase64(hash) }));
      }
      options.on = Object.fromEntries(
        events.map((event) => [
          event,
          ({ error, cause, ...fields } = {}) =>
            void emit({ ...fields, error: plain(error), cause: plain(cause), client: name, event }),
        ]),
      );
      state.client = await connect(addresses.length === 1 ? addresses[0] : addresses, { failFast: true, ...options });
      state.client.closed.then((error) => emit({ client: name, event: "ended", error: plain(error) }));
      return { edge: state.client.edge, transport: state.client.transport };
    },

    // A provider gets its token, or a failure.
    token({ client: name, token, expiresAt, expiresIn, text, loggedOut }) {
      const { resolve, reject } = clients.get(name).asked.shift();
      const given = { token };
      if (expiresAt) given.expiresAt = new Date(expiresAt);
      if (expiresIn) given.expiresIn = expiresIn / 1000;
      if (loggedOut) reject(new LoggedOutError(text));
      else if (text) reject(new Error(text));
      else resolve(expiresAt || expiresIn ? given : token);
    },

    async subscribe({ client: name, sub, tenant, pattern, mode, options }) {
      const state = clients.get(name);
      const report = (m) =>
        void emit({
          client: name, event: "message", sub, tenant: m.tenant, channel: m.channel, payload: toBase64(m.payload),
          pattern: m.pattern, patterns: m.patterns, late: m.late, position: m.position, sender: m.sender,
        });
      const subscription = await state.client.subscribe(
        tenant, pattern, mode === "callback" ? { ...options, onMessage: report } : options,
      );
      const read = async () => {
        try {
          for await (const message of subscription) report(message);
          emit({ client: name, event: "subscriptionEnded", sub });
        } catch (error) {
          emit({ client: name, event: "subscriptionEnded", sub, error: plain(error) });
        }
      };
      state.subscriptions.set(sub, { subscription, read });
      if (mode === "iterate") read();
      if (mode === "callback") {
        subscription.ended.then((error) => emit({ client: name, event: "subscriptionEnded", sub, error: plain(error) }));
      }
    },

    read: ({ client: name, sub }) => void clients.get(name).subscriptions.get(sub).read(),

    async join({ client: name, member, tenant, channel }) {
      const { client, memberships } = clients.get(name);
      const membership = await client.join(tenant, channel);
      memberships.set(member, membership);
      membership.ended.then((error) => emit({ client: name, event: "membershipEnded", member, error: plain(error) }));
    },
    leave: ({ client: name, member }) => clients.get(name).memberships.get(member).leave(),

    async presence({ client: name, watch, tenant, pattern, count }) {
      const { client, presences } = clients.get(name);
      const presence = await client.presence(tenant, pattern, { count });
      const now = state(presence);
      const read = async () => {
        const ended = { client: name, event: "presenceEnded", watch };
        try {
          for await (const { type, channel, count, member } of presence) {
            const what = member ? { memberInfo: plainMember(member) } : { channel, count };
            emit({ client: name, event: "presenceChange", watch, type, ...what });
          }
          emit(ended);
        } catch (error) {
          emit({ ...ended, error: plain(error) });
        }
      };
      presences.set(watch, presence);
      read();
      return now;
    },
    members: ({ client: name, watch }) => state(clients.get(name).presences.get(watch)),
    closePresence: ({ client: name, watch }) => clients.get(name).presences.get(watch).close(),

    drain({ client: name, sub }) {
      const { client, subscriptions } = clients.get(name);
      return (sub ? subscriptions.get(sub).subscription : client).drain();
    },
    unsubscribe: ({ client: name, sub }) => clients.get(name).subscriptions.get(sub).subscription.unsubscribe(),
    position: ({ client: name, sub }) => ({ position: clients.get(name).subscriptions.get(sub).subscription.position }),
    async publish({ client: name, tenant, channel, delivery, confirm, key, ...command }) {
      const { client } = clients.get(name);
      if (confirm) return { position: await client.publish(tenant, channel, payload(command), { delivery, confirm, key }) };
      await client.publish(tenant, channel, payload(command), delivery ? { delivery } : undefined);
    },
    flush: ({ client: name }) => clients.get(name).client.flush(),
    online: () => void dispatchEvent(new Event("online")),
    renewToken: ({ client: name }) => clients.get(name).client.renewToken(),
    retry: ({ client: name }) => clients.get(name).client.retry(),
    close: ({ client: name }) => clients.get(name).client.close(),

    async issue({ addresses: [address], master, tenant, rules, seconds, presence, subject }) {
      const admin = new TokenAdmin(address, master);
      const { token, tokenId, expiresAt } = await admin.issue({
        createdBy: "integration",
        expiresIn: `${seconds}s`,
        subject,
        grants: [{ tenants: [tenant], publish: rules, subscribe: rules, presence }],
      });
      return { token, tokenId, expiresAt: expiresAt.toISOString() };
    },
    async refresh({ addresses: [address], master, tokenId, seconds }) {
      const admin = new TokenAdmin(address, master);
      const expiresAt = await admin.refresh(tokenId, { expiresIn: seconds });
      return { expiresAt: expiresAt.toISOString() };
    },
    revoke: ({ addresses: [address], master, token }) => new TokenAdmin(address, master).revoke(token),
    async list({ addresses: [address], master, tenant }) {
      const tokens = [];
      for await (const { tokenId, status } of new TokenAdmin(address, master).list({ tenant, pageSize: 2 })) {
        tokens.push({ tokenId, status });
      }
      return { tokens };
    },
  };

  return async function carryOut(command) {
    const answer = { client: command.client, event: "answer", id: command.id };
    try {
      emit({ ...answer, ...(await commands[command.cmd](command)) });
    } catch (error) {
      emit({ ...answer, error: plain(error) ?? { code: "", text: "undefined was thrown" } });
    }
  };
}

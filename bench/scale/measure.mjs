<<<<<<< HEAD
// Measures the costs that the simulation uses, with a real Redis and three real hubs.
import { fork, spawn } from "node:child_process";
=======
// Measures the costs that the simulation uses, with a real Redis and two real hubs.
import { fork } from "node:child_process";
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
import { once } from "node:events";
import { Redis } from "ioredis";
import { freePort } from "../lib/free-port.mjs";
import { createAgent, inParallel, openSession, post, startRedis } from "../lib/store-load.mjs";

const HUB = new URL("../servers/store-hub.mjs", import.meta.url);
const SESSIONS = 2000;
const CALLS = 8000;
<<<<<<< HEAD
const CALLERS = 16;
const TOKEN = "bench";
/**
 * Limit of a session. All sessions of a client share 16 times as many calls, which is more than the callers make, and
 * less than 128, so that a hub counts each call in the store and reserves nothing.
 */
const SMALL_LIMIT = 7;
=======
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
const SUBSCRIBERS = 100;
const PUBLISHED = 2000;
/** Tokens of `store-hub.mjs`. */
const TOKENS = 80;
/** Calls per minute of each token that are counted call by call, since a 64th of them is less than 2. */
const EXACT_LIMIT = 127;

/** Measures all costs. Times in microseconds of processor time, sizes in bytes. */
export async function measureCosts() {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
<<<<<<< HEAD
    for await (const chunk of server.stdout) if (String(chunk).includes("Ready to accept connections")) break;
    const url = `redis://127.0.0.1:${port}`;
    const redis = new Redis(url);
    const hubs = await Promise.all([0, 0, SMALL_LIMIT].map((inFlight) => startHub(url, inFlight)));
=======
    const hubs = await Promise.all([0, 0, EXACT_LIMIT].map((perMinute) => startHub(server.url, perMinute)));
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
    const costs = await measureAll(redis, hubs);
    for (const { child } of hubs) child.disconnect();
    await Promise.all(hubs.map(({ child }) => once(child, "exit")));
    return costs;
  } finally {
    redis.disconnect();
    server.stop();
  }
}

<<<<<<< HEAD
async function measureAll(redis, [first, second, limitedHub]) {
=======
async function measureAll(redis, [first, second, counting]) {
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
  const memory = async () => Number(/used_memory:(\d+)/.exec(await redis.info("memory"))[1]);
  const emptyBytes = await memory();
  const emptyHub = (await first.ask()).rss;
  const put = await phase(redis, () => openSessions(first, SESSIONS));
  const sessionBytes = ((await memory()) - emptyBytes) / SESSIONS;
  const hubSession = ((await first.ask()).rss - emptyHub) / SESSIONS;
  const sessions = put.result;

  const calls = (hub, options) => () => callMany(hub, { sessions, ...options });
  await calls(first)();
  // The first request of a session at the other hub looks for its holder; further ones know it.
  const found = await phase(redis, calls(second));
  const direct = await phase(redis, calls(first), [first, second]);
  const relayed = await phase(redis, calls(second), [first, second]);
<<<<<<< HEAD
  const limitedCalls = calls(limitedHub, { sessions: await openSessions(limitedHub, SESSIONS) });
  await limitedCalls();
  const limited = await phase(redis, limitedCalls, [limitedHub]);
=======
  const ofCounting = await openSessions(counting, TOKENS);
  const limited = await phase(redis, calls(counting, { sessions: ofCounting }), [counting]);
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
  const beforeEvents = await memory();
  const streamed = await phase(redis, calls(first, { tool: "steps", count: SESSIONS }), [first, second]);
  const events = ((await memory()) - beforeEvents) / SESSIONS;
  const limitBytes = Number(await redis.memory("USAGE", (await redis.keys("toolyard:*limit*"))[0] ?? "none")) || 300;
  const delivery = await measureDelivery(redis);

  const script = (stats) => stats.of("evalsha");
  return {
    storeUs: {
      admit: script(limited.stats),
      leave: script(limited.stats),
      find: found.stats.of("hmget"),
      append: streamed.stats.of("xadd"),
      put: script(put.stats),
      remove: script(put.stats),
      lease: found.stats.of("set") || found.stats.of("hmget"),
      renew: script(limited.stats),
      claim: script(put.stats),
      publish: delivery.publish,
      delivery: delivery.each,
    },
    hubUs: {
      call: direct.cpu / CALLS,
      relayed: (relayed.cpu - direct.cpu) / CALLS,
      command: Math.max(0, (limited.cpu - direct.cpu) / CALLS / 2),
      delivery: delivery.received,
    },
    bytes: { session: sessionBytes, events: Math.max(0, events), limit: limitBytes, hubSession },
    relayHeadBytes: 600,
  };
}

/** Runs `work` and returns the time that each command of the store took, and the processor time of the hubs. */
async function phase(redis, work, hubs = []) {
  await redis.config("RESETSTAT");
  const storeBefore = await storeCpu(redis);
  const cpu = async () => {
    const all = await Promise.all(hubs.map((hub) => hub.ask()));
    return all.reduce((sum, { cpu: used }) => sum + used.user + used.system, 0);
  };
  const before = await cpu();
  const result = await work();
  const used = (await cpu()) - before;
  const store = (await storeCpu(redis)) - storeBefore;
  const text = await redis.info("commandstats");
  const rows = [...text.matchAll(/cmdstat_(\w+):calls=(\d+),usec=(\d+)/g)].map(([, name, calls, us]) => ({
    name,
    calls: Number(calls),
    us: Number(us),
  }));
  const sum = (member) => rows.reduce((total, row) => total + row[member], 0);
  // The statistics of commands do not contain the time to read a command and to send its reply.
  const transferUs = Math.max(0, (store - sum("us")) / sum("calls"));
  const of = (name) => {
    const row = rows.find((one) => one.name === name);
    return row ? row.us / row.calls + transferUs : 0;
  };
  return { result, cpu: used, store, stats: { of } };
}

/** Returns the processor time of the server so far, in microseconds. */
async function storeCpu(redis) {
  const text = await redis.info("cpu");
  return ["user", "sys"].reduce(
    (sum, kind) => sum + Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(text)[1]) * 1e6,
    0,
  );
}

/** Measures a publication with many subscribers: the cost of the command itself, and of each delivery. */
async function measureDelivery(redis) {
  const subscribers = await Promise.all(
    Array.from({ length: SUBSCRIBERS }, async () => {
      const subscriber = redis.duplicate();
      await subscriber.subscribe("bench");
      return subscriber;
    }),
  );
  let received = 0;
  const all = new Promise((resolve) => {
    for (const subscriber of subscribers)
      subscriber.on("message", () => (received += 1) === SUBSCRIBERS * PUBLISHED && resolve());
  });
  const message = "x".repeat(200);
  const none = await phase(redis, () => publishMany(redis, "nobody", message));
  const before = process.cpuUsage();
  const some = await phase(redis, () => publishMany(redis, "bench", message));
  await all;
  const used = process.cpuUsage(before);
  for (const subscriber of subscribers) subscriber.disconnect();
  return {
    publish: none.stats.of("publish"),
    each: (some.store - none.store) / (SUBSCRIBERS * PUBLISHED),
    received: (used.user + used.system) / (SUBSCRIBERS * PUBLISHED),
  };
}

async function publishMany(redis, channel, message) {
  for (let at = 0; at < PUBLISHED; at += 1) await redis.publish(channel, message);
}

<<<<<<< HEAD
async function startHub(url, inFlight) {
  const port = await freePort();
  const child = fork(HUB, [String(port), url, String(inFlight)], { execArgv: ["--expose-gc"] });
=======
async function startHub(url, perMinute) {
  const port = await freePort();
  const child = fork(HUB, [port, url, perMinute].map(String), { execArgv: ["--expose-gc"] });
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
  await once(child, "message");
  const ask = async () => {
    child.send("");
    return (await once(child, "message"))[0];
  };
  return { child, ask, port, agent: createAgent() };
}

async function openSessions(hub, count) {
<<<<<<< HEAD
  const ids = [];
  await inParallel(count, async () => {
    const body = {
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: INFO },
    };
    const { headers } = await post(hub, { body: { id: 1, ...body } });
    const session = headers["mcp-session-id"];
    await post(hub, { session, body: { method: "notifications/initialized" } });
    ids.push(session);
=======
  const sessions = [];
  await inParallel(count, async (at) => {
    const authorization = `Bearer token-of-the-bench-${at % TOKENS}`;
    sessions[at] = await openSession(hub, { authorization });
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)
  });
  return sessions;
}

async function callMany(hub, { sessions, tool = "echo", count = CALLS }) {
  await inParallel(count, async (at) => {
    const params = { name: tool, arguments: { text: "hello" }, _meta: { progressToken: at } };
<<<<<<< HEAD
    const session = sessions[at % sessions.length];
    const { text } = await post(hub, { session, body: { id: at + 2, method: "tools/call", params } });
    if (!text.includes("result")) throw new Error(`A call failed: ${text.slice(0, 500)}`);
  });
}

async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CALLERS }, worker));
}

const INFO = { name: "bench", version: "1" };

function post({ port, agent }, { session, body }) {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${TOKEN}`,
      ...(session && { "mcp-session-id": session }),
    };
    const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => (text += piece));
      response.on("end", () => resolve({ text, headers: response.headers }));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ jsonrpc: "2.0", ...body }));
  });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
=======
    const message = { id: at + 2, method: "tools/call", params };
    const { text } = await post(hub, message, sessions[at % sessions.length]);
    if (!text.includes("result")) throw new Error(`A call failed: ${text.slice(0, 500)}`);
  });
}
>>>>>>> d2d0fe06 (refactor(relay,bench): one client and one Redis for the benches of several hubs; shorter texts; limits of small clients are simulated)

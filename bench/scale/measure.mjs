// Measures the costs that the simulation uses, with a real Redis and three real hubs.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { freePort } from "../../scripts/free-port.mjs";
import { createAgent, inParallel, openSession, post, startRedis } from "../lib/store-load.mjs";

const HUB = new URL("../servers/store-hub.mjs", import.meta.url);
const SESSIONS = 2000;
const CALLS = 8000;
const SUBSCRIBERS = 100;
const PUBLISHED = 2000;
/** Number of access tokens of `store-hub.mjs`. */
const TOKENS = 80;
/** Largest limit in calls per minute that is counted call by call, because a 64th of it is less than 2. */
const EXACT_LIMIT = 127;

/** Measures all costs. Times in microseconds of processor time, sizes in bytes. */
export async function measureCosts() {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    const hubs = await Promise.all([0, 0, EXACT_LIMIT].map((perMinute) => startHub(server.url, perMinute)));
    const costs = await measureAll(redis, hubs);
    for (const { child } of hubs) child.disconnect();
    await Promise.all(hubs.map(({ child }) => once(child, "exit")));
    return costs;
  } finally {
    redis.disconnect();
    server.stop();
  }
}

async function measureAll(redis, [first, second, counting]) {
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
  const ofCounting = await openSessions(counting, TOKENS);
  const limited = await phase(redis, calls(counting, { sessions: ofCounting }), [counting]);
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

async function startHub(url, perMinute) {
  const port = await freePort();
  const child = fork(HUB, [port, url, perMinute].map(String), { execArgv: ["--expose-gc"] });
  await once(child, "message");
  const ask = async () => {
    child.send("");
    return (await once(child, "message"))[0];
  };
  return { child, ask, port, agent: createAgent() };
}

async function openSessions(hub, count) {
  const sessions = [];
  await inParallel(count, async (at) => {
    const authorization = `Bearer token-of-the-bench-${at % TOKENS}`;
    sessions[at] = await openSession(hub, { authorization });
  });
  return sessions;
}

async function callMany(hub, { sessions, tool = "echo", count = CALLS }) {
  await inParallel(count, async (at) => {
    const params = { name: tool, arguments: { text: "hello" }, _meta: { progressToken: at } };
    const message = { id: at + 2, method: "tools/call", params };
    const { text } = await post(hub, message, sessions[at % sessions.length]);
    if (!text.includes("result")) throw new Error(`A call failed: ${text.slice(0, 500)}`);
  });
}

// Two hubs whose path to each other is broken: the address that they announce belongs to another program.
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { beforeAll, afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { LegacyClient, textOf } from "./clients.ts";
import { Cluster } from "./hub-process.ts";

let redis: RedisServer;

beforeAll(async () => {
  if (HAS_REDIS) redis = await RedisServer.start();
});
beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));
afterAll(() => redis?.[Symbol.asyncDispose]());

interface BrokenPath {
  readonly client: LegacyClient;
  readonly cluster: Cluster;
}

/** Program at the announced address. */
interface OtherProgram {
  readonly server: Server;
  /** Number of relayed requests that arrived. Attempts to open the shared connection are not counted. */
  arrived: number;
}

let prefixes = 0;

/** Starts two hubs that announce the address of another program, and a client whose session is at the other hub. */
async function openBroken({ server }: OtherProgram): Promise<BrokenPath> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const advertise = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  prefixes += 1;
  const cluster = await Cluster.start({
    hubs: 2,
    isReachable: false,
    store: { url: redis.url, prefix: `broken-${prefixes}:`, advertise },
    config: { server: { tokens: { ann: { token: "token-of-ann" }, bob: { token: "token-of-bob" } } } },
  });
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  const [first, second] = cluster.hubs.map(({ url }) => url) as [string, string];
  const opened = await LegacyClient.open(() => first, {}, "token-of-ann");
  return { client: LegacyClient.continue(opened, () => second), cluster };
}

/** Creates a program that answers each request with `status`. */
function answering(status: number): OtherProgram {
  const program: OtherProgram = { server: createHttpServer(), arrived: 0 };
  program.server.on("request", ({ method }, response) => {
    if (method === "POST") program.arrived += 1;
    response.writeHead(status).end();
  });
  return program;
}

/** Creates a program that resets each connection after its first data. */
function resetting(): OtherProgram {
  const program: OtherProgram = { server: createServer(), arrived: 0 };
  program.server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      if (data.toString().startsWith("POST")) program.arrived += 1;
      socket.resetAndDestroy();
    });
  });
  return program;
}

test("a repeatable request is passed on at most twice if each connection is reset", async () => {
  const program = resetting();
  const { client } = await openBroken(program);
  const messages = await client.request("ping");
  expect(messages.at(-1)).toMatchObject({ error: { data: { reason: "hub_lost" } } });
  expect(program.arrived).toBe(2);
});

test.each([502, 503, 504])("a call is not executed again through the store if a proxy answers %d", async (status) => {
  const program = answering(status);
  const { client, cluster } = await openBroken(program);
  const messages = await client.call("count", { key: `once-${status}` });
  expect(messages.at(-1)).toMatchObject({ error: { data: { reason: "hub_lost" } } });
  expect(program.arrived).toBe(1);
  expect((await cluster.counts()).get(`once-${status}`)).toBeUndefined();
});

test.each([403, 404])(
  "sends a call to the other hub through the store if another program answers %d at that hub's address",
  async (status) => {
    const { client, cluster } = await openBroken(answering(status));
    expect(textOf((await client.call("count", { key: `stored-${status}` })).at(-1))).toBe(`counted stored-${status}`);
    expect((await cluster.counts()).get(`stored-${status}`)).toBe(1);
  },
);

test("at each hub, a caller with the session id of another caller gets 404", async () => {
  const { client, cluster } = await openBroken(answering(404));
  for (const { url } of cluster.hubs) {
    const bob = LegacyClient.continue(client, () => url);
    bob.headers["authorization"] = "Bearer token-of-bob";
    const response = await bob.post({ id: 5, method: "ping" });
    expect(response.status).toBe(404);
    expect(((await response.json()) as { error: JsonObject }).error["message"]).toMatch(/session/i);
  }
  expect((await client.post({ id: 6, method: "ping" }, { url: cluster.hubs[0]!.url })).status).toBe(200);
});

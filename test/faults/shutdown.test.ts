// The end of the program, expected or not: waiting callers get an answer, and no process is left.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";
import { allGone, descendants, ServeChild } from "../support/serve-child.ts";
import { legacyServer } from "./fault-hub.ts";

const CONFIG: HubConfig = {
  mcp: { stdio_servers: { bad: { command: legacyServer() }, good: { command: legacyServer() } } },
};

async function connect(served: ServeChild): Promise<RawClient> {
  const client = await RawClient.open(new HttpWire(served.url, "legacy"), { era: "legacy" });
  onTestFinished(() => client.close());
  return client;
}

/** Reads and writes a child's standard streams, and records what it read. */
class Pipe {
  readonly messages: JsonObject[] = [];
  readonly #served: ServeChild;
  readonly #waiting = new Set<() => void>();

  constructor(served: ServeChild) {
    this.#served = served;
    createInterface({ input: served.stdout }).on("line", (line) => {
      this.messages.push(JSON.parse(line) as JsonObject);
      for (const wake of this.#waiting) wake();
    });
  }

  send(...messages: readonly JsonObject[]): void {
    for (const message of messages) this.#served.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async reply(id: number): Promise<JsonObject> {
    for (;;) {
      const found = this.messages.find((message) => message["id"] === id && message["method"] === undefined);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async open(): Promise<void> {
    this.send({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    });
    await this.reply(0);
    this.send({ method: "notifications/initialized" });
  }
}

const call = (id: number, name: string): JsonObject => ({ id, method: "tools/call", params: { name, arguments: {} } });

/** Returns the child processes of the hub once both servers are running. */
async function children(served: ServeChild): Promise<number[]> {
  await expect.poll(() => descendants(served.pid).length).toBeGreaterThanOrEqual(2);
  return descendants(served.pid);
}

test("SIGTERM with a running call over HTTP: the answer arrives, exit code 0, no child left", async () => {
  await using served = await ServeChild.start({ config: CONFIG });
  const client = await connect(served);
  await client.tool("good__pid");
  const [pids, slow] = [await children(served), client.tool("bad__rest", { ms: 600 }, { _meta: { progressToken: 1 } })];
  await client.next("notifications/progress");
  served.signal("SIGTERM");
  expect(await slow).toMatchObject({ content: [{ text: "rested" }] });
  expect(await served.exited).toEqual({ code: 0, signal: null });
  await allGone(pids);
});

test("SIGTERM with an endless call over HTTP: answered after its grace time, exit code 0, no child left", async () => {
  await using served = await ServeChild.start({ config: { ...CONFIG, server: { shutdown_grace: "500ms" } } });
  const client = await connect(served);
  const pids = await children(served);
  const hung = client.request("tools/call", { name: "bad__linger", arguments: {}, _meta: { progressToken: 1 } });
  await client.next("notifications/progress");
  served.signal("SIGTERM");
  const reply = await hung;
  expect(JSON.stringify(reply)).toMatch(/shutting down|closed|ended/i);
  expect(await served.exited).toEqual({ code: 0, signal: null });
  await allGone(pids);
});

test("SIGTERM with a running call over stdio: the answer arrives, exit code 0, no child left", async () => {
  await using served = await ServeChild.start({ config: CONFIG, endpoint: "stdio" });
  const pipe = new Pipe(served);
  await pipe.open();
  pipe.send(call(1, "good__pid"));
  await pipe.reply(1);
  const pids = await children(served);
  pipe.send({
    ...call(2, "bad__rest"),
    params: { name: "bad__rest", arguments: { ms: 600 }, _meta: { progressToken: 1 } },
  });
  await expect.poll(() => pipe.messages.some(({ method }) => method === "notifications/progress")).toBe(true);
  served.signal("SIGTERM");
  expect((await pipe.reply(2))["result"]).toMatchObject({ content: [{ text: "rested" }] });
  expect(await served.exited).toEqual({ code: 0, signal: null });
  await allGone(pids);
});

test("a stdio client that disconnects during a call: the call ends, exit code 0, no child left", async () => {
  await using served = await ServeChild.start({ config: CONFIG, endpoint: "stdio" });
  const pipe = new Pipe(served);
  await pipe.open();
  pipe.send(call(1, "good__pid"));
  await pipe.reply(1);
  const pids = await children(served);
  pipe.send({ ...call(2, "bad__rest"), params: { name: "bad__rest", arguments: { ms: 300 } } });
  served.stdin.end();
  expect((await pipe.reply(2))["result"]).toMatchObject({ content: [{ text: "rested" }] });
  expect(await served.exited).toEqual({ code: 0, signal: null });
  await allGone(pids);
});

test.each(["http", "stdio"] as const)(
  "a second signal immediately ends the calls that the hub waits for (%s), and leaves no child",
  async (endpoint) => {
    await using served = await ServeChild.start({ config: { ...CONFIG, server: { shutdown_grace: "30s" } }, endpoint });
    if (endpoint === "stdio") {
      const pipe = new Pipe(served);
      await pipe.open();
      pipe.send({
        ...call(1, "bad__linger"),
        params: { name: "bad__linger", arguments: {}, _meta: { progressToken: 1 } },
      });
      await expect.poll(() => pipe.messages.some(({ method }) => method === "notifications/progress")).toBe(true);
    } else {
      const client = await connect(served);
      void client
        .request("tools/call", { name: "bad__linger", arguments: {}, _meta: { progressToken: 1 } })
        .catch(() => {});
      await client.next("notifications/progress");
    }
    const pids = await children(served);
    served.signal("SIGTERM");
    expect((await served.log.until(({ message }) => message.startsWith("Ending"))).message).toContain(
      "A second signal ends them immediately",
    );
    // A signal shortly after the first counts as the same one, because npm forwards its own. It is repeated until it
    // has an effect.
    const startedAt = performance.now();
    const again = setInterval(() => served.signal("SIGTERM"), 100);
    const exit = await served.exited;
    clearInterval(again);
    expect(exit).toEqual({ code: 130, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(7000);
    await allGone(pids);
  },
);

test.each(["http", "stdio"] as const)(
  "SIGKILL of the hub leaves no child behind (%s): each exits at the end of its input",
  async (endpoint) => {
    await using served = await ServeChild.start({ config: CONFIG, endpoint });
    const pids = await children(served);
    served.signal("SIGKILL");
    expect(await served.exited).toEqual({ code: null, signal: "SIGKILL" });
    await allGone(pids);
  },
);

test("clients that disconnect without a message leave the number of processes unchanged", async () => {
  await using served = await ServeChild.start({ config: { ...CONFIG, limits: { rate_per_minute: 0 } } });
  const client = await connect(served);
  await client.tool("good__pid");
  const before = (await children(served)).toSorted();
  const abandoned = async (era: "legacy" | "modern"): Promise<void> => {
    const wire = new HttpWire(served.url, era);
    const one = await RawClient.open(wire, { era });
    await one.tool("good__pid");
    await one.list("tools/list", "tools");
    wire.drop();
  };
  for (let round = 0; round < 8; round += 1)
    await Promise.all(Array.from({ length: 10 }, (_, at) => abandoned(at % 2 === 0 ? "legacy" : "modern")));
  expect(descendants(served.pid).toSorted()).toEqual(before);
  expect(await client.tool("good__pid")).toMatchObject({ content: [{ text: expect.stringMatching(/^\d+$/) }] });
});

test("abandoned sessions with a server each end that server, and never exceed the limit", async () => {
  const own = { command: legacyServer(), isolation: "session", max_sessions: 4, idle_stop: "300ms" } as const;
  await using served = await ServeChild.start({
    config: { mcp: { stdio_servers: { own, good: { command: legacyServer() } } } },
  });
  const client = await connect(served);
  await client.tool("good__pid");
  const before = (await children(served)).length;
  const opened = await Promise.all(
    Array.from({ length: 4 }, () => RawClient.open(new HttpWire(served.url, "legacy"), { era: "legacy" })),
  );
  const pids = await Promise.all(
    opened.map(async (one) => ((await one.tool("own__pid"))["content"] as { text: string }[])[0]!.text),
  );
  expect(new Set(pids).size).toBe(4);
  expect(descendants(served.pid).length).toBeLessThanOrEqual(before + 4);
  const fifth = await RawClient.open(new HttpWire(served.url, "legacy"), { era: "legacy" });
  const answer = await fifth.tool("own__pid");
  expect(descendants(served.pid).length).toBeLessThanOrEqual(before + 4);
  expect(answer["content"]).toHaveLength(1);
  await expect.poll(() => descendants(served.pid).length).toBe(before);
});

/** Configures servers that need time to save; `events` returns the events of each server. */
async function savingServers(count = 3): Promise<{ readonly config: HubConfig; events(): Promise<string[][]> }> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-saving-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const names = Array.from({ length: count }, (_, at) => `s${at}`);
  const servers = names.map((name) => {
    const command = [process.execPath, fixture("saving"), join(folder, name), "saves-ms=700"];
    return [name, { command }] as const;
  });
  const events = (): Promise<string[][]> =>
    Promise.all(
      names.map(async (name) => {
        const lines = (await readFile(join(folder, name), "utf8")).split("\n").filter((line) => line !== "");
        return lines.map((line) => line.slice(line.indexOf(" ") + 1));
      }),
    );
  return { config: { mcp: { stdio_servers: Object.fromEntries(servers) } }, events };
}

const SAVED = ["started", "input ended", "saved"];

test.each(["http", "stdio"] as const)(
  "servers get their time to save when the hub receives SIGTERM (%s)",
  async (endpoint) => {
    const { config, events } = await savingServers();
    await using served = await ServeChild.start({ config, endpoint });
    await expect.poll(() => descendants(served.pid).length).toBeGreaterThanOrEqual(3);
    await expect.poll(() => served.log.lines.filter(({ message }) => message === "Connected.")).toHaveLength(3);
    served.signal("SIGTERM");
    expect(await served.exited).toEqual({ code: 0, signal: null });
    expect(await events()).toEqual([SAVED, SAVED, SAVED]);
  },
);

test("servers get their time to save when the hub's client disconnects", async () => {
  const { config, events } = await savingServers();
  await using served = await ServeChild.start({ config, endpoint: "stdio" });
  const pipe = new Pipe(served);
  await pipe.open();
  pipe.send(call(1, "s0__pid"), call(2, "s1__pid"), call(3, "s2__pid"));
  await Promise.all([1, 2, 3].map((id) => pipe.reply(id)));
  served.stdin.end();
  expect(await served.exited).toEqual({ code: 0, signal: null });
  expect(await events()).toEqual([SAVED, SAVED, SAVED]);
});

test("a server that a reload removes gets its time to save", async () => {
  const { config, events } = await savingServers(1);
  await using served = await ServeChild.start({ config });
  const client = await connect(served);
  await client.tool("s0__pid");
  await served.writeConfig({});
  served.signal("SIGHUP");
  await expect.poll(async () => (await events())[0], { timeout: 20_000 }).toEqual(SAVED);
});

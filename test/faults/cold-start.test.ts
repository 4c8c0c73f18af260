// Servers that start slowly. A file that the test writes releases each of them, so no test depends on speed.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Principal } from "../../packages/toolyard/src/core/calls/call.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { loadHubConfig, openHub } from "../../packages/toolyard/src/hub/open-hub.ts";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { LEGACY_REVISIONS } from "../../packages/toolyard/src/wire/legacy/revisions.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { PipeWire } from "../fixtures/raw/pipe-wire.ts";
import { SseWire } from "../fixtures/raw/sse-wire.ts";
import { RawClient, type EraName } from "../fixtures/raw/raw-client.ts";
import { BusyProcessor } from "../fixtures/busy-processor.ts";
import { MAIN } from "../fixtures/served-hub.ts";
import { fixture, textOf } from "../fixtures/upstreams/harness.ts";
import { settled } from "../../packages/toolyard/src/hub/sources/settled.ts";

type StdioServer = NonNullable<NonNullable<HubConfig["mcp"]>["stdio_servers"]>[string];

const ERAS = ["legacy", "modern"] as const;
/** A time longer than any test, so that a wrong wait makes the test fail. */
const LONG = "10m";
/** A cold wait that ends immediately. */
const NONE = "1ms";

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const quick: StdioServer = { command: [process.execPath, fixture("legacy")] };

/** A hub with an endpoint and `slow` servers, which answer `initialize` only after `start` was called. */
class ColdYard implements AsyncDisposable {
  readonly hub: LibraryHub;
  readonly #home: string;
  readonly endpoint: string;
  readonly #clients: RawClient[] = [];

  private constructor(hub: LibraryHub, home: string, endpoint: string) {
    this.hub = hub;
    this.#home = home;
    this.endpoint = endpoint;
  }

  static async open(settings: (slow: (more?: Partial<StdioServer>) => StdioServer) => HubConfig): Promise<ColdYard> {
    const home = await mkdtemp(join(tmpdir(), "toolyard-cold-"));
    const slow = (more: Partial<StdioServer> = {}): StdioServer => slowServer(home, more);
    const hub = await createHub({
      settings: { builtin: { execute_code: false }, server: { port: 0, shutdown_grace: "1s" }, ...settings(slow) },
      variables: { PATH: process.env["PATH"], TOOLYARD_HOME: join(home, "data") },
      logger: SILENT_LOGGER,
    });
    return new ColdYard(hub, home, (await hub.serve()).endpoint);
  }

  slow(more: Partial<StdioServer> = {}): StdioServer {
    return slowServer(this.#home, more);
  }

  /** Lets the slow servers continue. */
  start(): Promise<void> {
    return writeFile(startFile(this.#home), "");
  }

  async connect(era: EraName, revision?: string): Promise<RawClient> {
    const client = await RawClient.open(new HttpWire(this.endpoint, era), {
      era,
      ...(revision !== undefined && { revision }),
    });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.hub.close();
    await rm(this.#home, { recursive: true, force: true });
  }
}

const startFile = (home: string): string => join(home, "start");

function slowServer(home: string, more: Partial<StdioServer>): StdioServer {
  return {
    command: [process.execPath, fixture("legacy"), `start-file=${startFile(home)}`, "resources", "prompts", "logging"],
    connect_timeout: LONG,
    ...more,
  };
}

const servers = (stdio_servers: Record<string, StdioServer>, coldWait: string): HubConfig => ({
  catalog: { cold_wait: coldWait },
  mcp: { stdio_servers },
});

describe.each(ERAS)("a client of the %s era", (era) => {
  test("a name without prefix waits for a source that was never listed, and the call runs there", async () => {
    await using yard = await ColdYard.open(() => servers({}, LONG));
    const client = await yard.connect(era);
    await yard.hub.addServer("slow", yard.slow({ namespace: "" }));
    const calling = client.tool("echo", { a: 1 });
    await yard.start();
    expect(await calling).toMatchObject({ structuredContent: { args: { a: 1 } } });
  });

  test("after the cold wait, reports that servers are starting, with their names", async () => {
    await using yard = await ColdYard.open((slow) => servers({ quick, a: slow({ namespace: "" }), b: slow() }, NONE));
    await yard.hub.call("quick__echo");
    const client = await yard.connect(era);
    const answer = await client.tool("nobody_has_this");
    expect(answer).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
    expect(JSON.stringify(answer)).toContain("still starting: a, b.");
  });

  test("reports an unknown name once the server is ready", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow({ namespace: "" }) }, LONG));
    await yard.start();
    const client = await yard.connect(era);
    expect(await client.request("tools/call", { name: "nobody_has_this", arguments: {} })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("Unknown tool") },
    });
  });

  test.each([
    ["slow__echo", "tools/call", { name: "slow__echo", arguments: {} }],
    ["slow::greet", "prompts/get", { name: "slow::greet", arguments: { who: "Ada" } }],
    ["slow+test://one", "resources/read", { uri: "slow+test://one" }],
  ])("%s waits for its source, even after the cold wait", async (_name, method, params) => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, NONE));
    const client = await yard.connect(era);
    const calling = client.result(method, params);
    await yard.start();
    expect(await calling).not.toHaveProperty("isError");
  });

  test("a URI without prefix waits for all starting sources, and is unavailable after the cold wait", async () => {
    await using patient = await ColdYard.open(() => servers({}, LONG));
    const waiting = await patient.connect(era);
    await patient.hub.addServer("slow", patient.slow());
    const reading = waiting.result("resources/read", { uri: "test://one" });
    await patient.start();
    expect(await reading).toMatchObject({ contents: [{ text: "one" }] });

    await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, NONE));
    const client = await yard.connect(era);
    const refused = await client.request("resources/read", { uri: "test://one" });
    expect(refused).toMatchObject({
      error: {
        code: -32603,
        message: expect.stringContaining("still starting: slow."),
        data: { "toolyard/kind": "unavailable" },
      },
    });
  });

  test("instructions and capabilities are the same while a server starts and afterwards", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, LONG));
    const connecting = yard.connect(era);
    await yard.start();
    const cold = await connecting;
    const warm = await yard.connect(era);
    expect(cold.opening["instructions"]).toBe("Use it well.");
    expect(cold.opening).toEqual(warm.opening);
  });

  test("after the cold wait, declares every possible capability, and notifies of new entries", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow({ namespace: "" }) }, NONE));
    const client = await yard.connect(era);
    const changing = { listChanged: true };
    expect(client.opening["capabilities"]).toEqual({
      tools: changing,
      resources: { ...changing, subscribe: true },
      prompts: changing,
      completions: {},
      logging: {},
      ...(era === "modern"
        ? { extensions: { "io.modelcontextprotocol/tasks": {} } }
        : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
    });
    if (era === "modern") await client.listen();
    const told = Promise.all(
      ["tools", "resources", "prompts"].map((list) => client.next(`notifications/${list}/list_changed`)),
    );
    await yard.start();
    await told;
    expect(await client.tool("echo")).not.toHaveProperty("isError");
    expect(await client.list("resources/list", "resources")).toHaveLength(1);
  });
});

describe("requests that do not wait for a starting server", () => {
  test("a call with the prefix of a ready source", async () => {
    await using yard = await ColdYard.open(() => servers({ quick }, LONG));
    const client = await yard.connect("legacy");
    await yard.hub.addServer("slow", yard.slow({ namespace: "" }));
    expect(await client.tool("quick__echo")).not.toHaveProperty("isError");
    expect(await client.tool("quick::echo")).not.toHaveProperty("isError");
    expect(await client.request("tools/call", { name: "quick__nope", arguments: {} })).toMatchObject({
      error: { code: -32602 },
    });
    expect(await client.request("resources/read", { uri: "quick+test://nope" })).toMatchObject({
      error: { code: -32002 },
    });
  });

  test("a modern client's call to a source that is ready", async () => {
    await using yard = await ColdYard.open(() => servers({ quick }, LONG));
    await yard.hub.list();
    await yard.hub.addServer("slow", yard.slow({ namespace: "" }));
    // The wait begins with the call: the wait at `server/discover` is separate.
    const reply = await fetch(yard.endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "quick__echo",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "quick__echo", arguments: {}, _meta: MODERN_META },
      }),
    });
    expect(await reply.json()).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  test("a name without prefix, the handshake and a list, if the starting server failed", async () => {
    await using yard = await ColdYard.open(() =>
      servers(
        { dead: { command: [process.execPath, fixture("legacy"), "dies-at-start"], namespace: "" }, quick },
        LONG,
      ),
    );
    const client = await yard.connect("legacy");
    expect(await client.request("tools/call", { name: "nobody_has_this", arguments: {} })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("Unknown tool") },
    });
    expect((await client.list("tools/list", "tools")).map(({ name }) => name)).toContain("quick__echo");
  });

  test("after the connect time, a name with the source's prefix is unavailable, any other unknown", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow({ connect_timeout: "300ms" }) }, LONG));
    expect(await yard.hub.call("slow__echo")).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("The source slow is not available"),
    });
    expect(await yard.hub.call("echo")).toMatchObject({ ok: false, kind: "unknown_tool" });
  });

  test("the call's own time limit ends its wait for a source", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, NONE));
    expect(await yard.hub.call("slow__echo", {}, { timeoutMs: 100 })).toMatchObject({ ok: false, kind: "timeout" });
    const gone = new AbortController();
    const calling = yard.hub.call("slow__echo", {}, { signal: gone.signal });
    gone.abort();
    expect(await calling).toMatchObject({ ok: false, kind: "cancelled" });
  });

  test("does not wait for, or name, a source that the caller has no right to", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow(), other: slow() }, NONE));
    const { port } = yard.hub;
    const principal = { id: "narrow", rights: { allow: ["other__*"] } };
    const answer = (target: string) => port.call(callOf(target, principal));
    expect(await answer("slow__echo")).toMatchObject({ ok: false, kind: "denied" });
    expect(await answer("echo")).toMatchObject({ ok: false, kind: "unavailable", details: { starting: ["other"] } });
  });
});

function callOf(target: string, principal: Principal): Parameters<LibraryHub["port"]["call"]>[0] {
  const { signal } = new AbortController();
  const none = async (): Promise<JsonObject> => ({});
  return {
    id: "call",
    endpoint: "test",
    method: "tools/call",
    target,
    arguments: {},
    params: {},
    meta: {},
    principal,
    mode: "all",
    client: { capabilities: {} },
    signal,
    wants: { progress: false },
    relaysInput: false,
    notify: () => {},
    ask: none,
  };
}

describe("notifies clients of new entries", () => {
  test.each(LEGACY_REVISIONS.map(({ date }) => date))("%s over HTTP", async (revision) => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, NONE));
    const client = await yard.connect("legacy", revision);
    expect(client.opening).toMatchObject({ protocolVersion: revision, capabilities: { tools: { listChanged: true } } });
    const told = client.next("notifications/tools/list_changed");
    await yard.start();
    await told;
    expect((await client.list("tools/list", "tools")).map(({ name }) => name)).toContain("slow__echo");
  });

  test("2024-11-05 over HTTP+SSE", async () => {
    await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, NONE));
    await using client = await RawClient.open(new SseWire(new URL("/sse", yard.endpoint).href), {
      era: "legacy",
      revision: "2024-11-05",
    });
    expect(client.opening).toMatchObject({
      protocolVersion: "2024-11-05",
      capabilities: { tools: { listChanged: true } },
    });
    const told = client.next("notifications/tools/list_changed");
    await yard.start();
    await told;
  });

  test.each(LEGACY_REVISIONS.map(({ date }) => date))("%s over stdio", async (revision) => {
    await using served = await serveStdio();
    await using client = await RawClient.open(served.wire(), { era: "legacy", revision });
    expect(client.opening).toMatchObject({ protocolVersion: revision, capabilities: { tools: { listChanged: true } } });
    const told = client.next("notifications/tools/list_changed");
    await served.start();
    await told;
  });

  test("a client that takes any line as the answer gets no `listChanged`, and no notifications", async () => {
    await using served = await serveStdio();
    await using client = await RawClient.open(served.wire(), {
      era: "legacy",
      revision: "2024-11-05",
      capabilities: { tools: {} },
    });
    expect(client.opening["capabilities"]).toMatchObject({ tools: {}, resources: { subscribe: true }, prompts: {} });
    expect(JSON.stringify(client.opening["capabilities"])).not.toContain("listChanged");
    await served.start();
    expect(await client.tool("slow__echo")).not.toHaveProperty("isError");
    expect(client.received.filter((message) => "method" in message)).toEqual([]);
  });
});

async function serveStdio(): Promise<AsyncDisposable & { wire(): PipeWire; start(): Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), "toolyard-cold-"));
  const config = join(home, "toolyard.json");
  await writeFile(config, JSON.stringify(servers({ slow: slowServer(home, {}) }, NONE)));
  return {
    wire: () =>
      new PipeWire({
        command: [process.execPath, MAIN, "serve", "--stdio", "--no-watch", "--config", config],
        env: { ...process.env, TOOLYARD_HOME: join(home, "data") },
      }),
    start: () => writeFile(startFile(home), ""),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

test("a hub's start is complete once its sources were listed, not already when they are connected", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-cold-"));
  const config = await loadHubConfig({
    files: [],
    variables: {},
    flags: servers({ slow: { command: [process.execPath, fixture("legacy"), `list-file=${startFile(home)}`] } }, NONE),
  });
  const hub = await openHub({
    config,
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: join(home, "data") },
    logger: SILENT_LOGGER,
  });
  try {
    const stateOf = (): unknown => hub.port.sources().find(({ source }) => source.id === "slow")?.status;
    await expect
      .poll(stateOf, { timeout: 20_000 })
      .toMatchObject({ state: "starting", info: { server: { name: "fixture" } } });
    const over = settled(hub, 60_000);
    await writeFile(startFile(home), "");
    await over;
    expect(hub.tools.nameOf("slow__echo", LOCAL_PRINCIPAL)).toBe("slow__echo");
  } finally {
    await hub.close();
    await rm(home, { recursive: true, force: true });
  }
});

test.runIf(process.platform === "linux")(
  "waits longer for the start of a server that a busy machine slows down",
  async () => {
    using busy = await BusyProcessor.start();
    const home = await mkdtemp(join(tmpdir(), "toolyard-cold-"));
    const command = busy.command(process.execPath, fixture("legacy"), "computes-ms=10000");
    const config = await loadHubConfig({ files: [], variables: {}, flags: servers({ slow: { command } }, NONE) });
    const variables = { PATH: process.env["PATH"], TOOLYARD_HOME: home };
    const hub = await openHub({ config, variables, logger: SILENT_LOGGER });
    try {
      await settled(hub, 8000, { installs: true });
      expect(hub.tools.nameOf("slow__echo", LOCAL_PRINCIPAL)).toBe("slow__echo");
    } finally {
      await hub.close();
      await rm(home, { recursive: true, force: true });
    }
  },
);

test("a program's call by a name without prefix waits as well", async () => {
  await using yard = await ColdYard.open((slow) => servers({ slow: slow() }, LONG));
  const calling = yard.hub.call("pid");
  await yard.start();
  expect(textOf(await calling)).toMatch(/^\d+$/);
});

// A server of both eras runs as one process for clients of any capabilities, until it sends a request to one of them.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { FULL_CAPABILITIES, RawClient, type EraName } from "../fixtures/raw/raw-client.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";

interface Yard {
  readonly hub: LibraryHub;
  connect(era: EraName): Promise<RawClient>;
  starts(): Promise<number>;
}

type ServerOptions = NonNullable<NonNullable<HubConfig["mcp"]>["stdio_servers"]>[string];

async function open(options: Partial<ServerOptions> = {}): Promise<Yard> {
  const home = await mkdtemp(join(tmpdir(), "toolyard-once-"));
  const record = join(home, "pids");
  const hub = await createHub({
    settings: {
      server: { port: 0 },
      mcp: { stdio_servers: { c: { command: [process.execPath, fixture("counting"), record], ...options } } },
    },
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
  });
  const clients: RawClient[] = [];
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await hub.close();
    await rm(home, { recursive: true, force: true });
  });
  const { endpoint } = await hub.serve();
  return {
    hub,
    connect: async (era) => {
      const answer = () => ({ action: "accept", content: {} });
      const client = await RawClient.open(new HttpWire(endpoint, era), {
        era,
        capabilities: FULL_CAPABILITIES,
        answer,
      });
      clients.push(client);
      return client;
    },
    starts: async () => (await readFile(record, "utf8")).trim().split("\n").length,
  };
}

async function call(client: RawClient, name: string): Promise<{ sum?: number; pid?: number; action?: string }> {
  const { content } = await client.tool(name);
  return JSON.parse((content as { text: string }[])[0]!.text);
}

test("five legacy and modern clients with all capabilities share one process and its state", async () => {
  const yard = await open();
  const eras = ["legacy", "modern", "legacy", "legacy", "modern"] as const;
  const clients = await Promise.all(eras.map((era) => yard.connect(era)));
  const counted = await Promise.all(clients.map((client) => call(client, "c__count")));
  expect(counted.map(({ sum }) => sum).toSorted()).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(counted.map(({ pid }) => pid)).size).toBe(1);
  expect(await yard.starts()).toBe(1);
});

test("a tool that sends server requests through the SDK runs in a second process for legacy callers", async () => {
  const yard = await open();
  const client = await yard.connect("legacy");
  const before = await call(client, "c__count");
  expect(await call(client, "c__ask")).toEqual({ action: "accept", content: {} });
  expect(await call(client, "c__count")).toEqual({ sum: 2, pid: before.pid });
  expect(await call(client, "c__ask")).toEqual({ action: "accept", content: {} });
  expect(await yard.starts()).toBe(2);
});

test('era = "legacy" keeps one process that can send requests to callers of both eras', async () => {
  const yard = await open({ era: "legacy" });
  const [legacy, modern] = [await yard.connect("legacy"), await yard.connect("modern")];
  for (const client of [legacy, modern])
    expect(await call(client, "c__ask")).toEqual({ action: "accept", content: {} });
  expect((await call(legacy, "c__count")).pid).toBe((await call(modern, "c__count")).pid);
  expect(await yard.starts()).toBe(1);
});

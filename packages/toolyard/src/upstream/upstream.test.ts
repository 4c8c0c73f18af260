import { expect, test } from "vitest";
import { fixture, isAlive, Lines, makeCall, textOf } from "../../../../test/fixtures/upstreams/harness.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import { childEnvironment } from "../process/environment.ts";
import { StdioTransport } from "./transports/stdio-transport.ts";
import { Upstream } from "./upstream.ts";

function start(pulseMs: number) {
  const openTransport = (): StdioTransport =>
    new StdioTransport({
      command: process.execPath,
      args: [fixture("legacy")],
      env: childEnvironment(),
      maxMessageBytes: 1_000_000,
      maxMessageParts: 100_000,
      // A server that hangs must be ended without this grace time.
      stopGraceMs: 600_000,
    });
  const lines = new Lines();
  const upstream = new Upstream(
    {
      openTransport,
      clientInfo: { name: "test", version: "1" },
      start: "eager",
      idleStopMs: 60_000,
      isolation: "shared",
      era: "auto",
      opensCheaply: false,
      legacyProcess: "auto",
      maxSessions: 1,
      roots: [],
      connectTimeoutMs: 10_000,
    },
    { logger: lines, pulseMs },
  );
  upstream.open();
  const call = async (name: string, idleMs = 10_000): Promise<Outcome> => {
    const made = makeCall(name, {}, { idleMs });
    try {
      return await upstream.calls.call(made, { params: { name, arguments: {} } });
    } finally {
      made.deadline.clear();
    }
  };
  return { upstream, lines, call, [Symbol.asyncDispose]: () => upstream.close() };
}

test("replaces a server that answers neither calls nor pings", async () => {
  await using server = start(200);
  const pid = Number(textOf(await server.call("pid")));
  expect(await server.call("freeze", 200)).toMatchObject({ ok: false, kind: "timeout" });
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(textOf(await server.call("pid"))).not.toBe(String(pid));
});

test("keeps a server that hangs in one call but answers pings", async () => {
  await using server = start(200);
  const pid = textOf(await server.call("pid"));
  expect(await server.call("hang", 200)).toMatchObject({ ok: false, kind: "timeout" });
  expect(textOf(await server.call("pid"))).toBe(pid);
  expect(server.lines.all.filter(({ message }) => message.includes("hangs"))).toEqual([]);
});

test("starts one child for many concurrent calls to a dead server", async () => {
  await using server = start(10_000);
  await server.call("die");
  const pids = await Promise.all(Array.from({ length: 50 }, () => server.call("pid")));
  expect(new Set(pids.map(textOf)).size).toBe(1);
  expect(server.upstream.status().restarts).toBe(1);
});

/** Starts a server that has closed its input and still runs. */
async function startDeaf(): Promise<{ readonly transport: StdioTransport; readonly pid: number }> {
  const transport = new StdioTransport({
    command: process.execPath,
    args: ["-e", "require('node:fs').closeSync(0); setTimeout(() => {}, 1e9); console.error('deaf')"],
    env: childEnvironment(),
    maxMessageBytes: 1_000_000,
    maxMessageParts: 100_000,
    stopGraceMs: 0,
  });
  await new Promise<void>((resolve, reject) => {
    transport
      .open({ onMessage: () => {}, onClose: () => {}, onStderr: (line) => line === "deaf" && resolve() })
      .catch(reject);
  });
  return { transport, pid: transport.describe()["pid"] as number };
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

test("reports the exit, and that nothing was sent, if a write fails because the server exits", async () => {
  const { transport, pid } = await startDeaf();
  const sent = transport.send(PING);
  process.kill(pid, "SIGKILL");
  await expect(sent).rejects.toMatchObject({
    failure: { message: expect.stringContaining("was ended by SIGKILL"), retryable: true, details: { sent: false } },
  });
  await transport.close();
});

test("reports a failed write to a server that keeps running", async () => {
  const { transport } = await startDeaf();
  await expect(transport.send(PING)).rejects.toMatchObject({
    failure: { message: expect.stringContaining("closed its input"), details: { sent: false } },
  });
  await transport.close();
});

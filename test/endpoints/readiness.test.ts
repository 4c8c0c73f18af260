// `/readyz` next to `/healthz`: through every adapter, with a base path, tokens, workers and behind a proxy.
import { afterEach, describe, expect, test } from "vitest";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { legacyServer } from "../faults/fault-hub.ts";

let hub: LibraryHub | undefined;
afterEach(async () => {
  await hub?.close();
  hub = undefined;
});

async function serve(server: HubConfig["server"] = {}, more: HubConfig = {}): Promise<string> {
  const logging = { level: "error" } as const;
  hub = await createHub({ variables: {}, settings: { logging, ...more, server: { port: 0, ...server } } });
  return (await hub.serve()).address.url;
}

interface Probe {
  readonly status: number;
  readonly text: string;
}

async function get(url: string, init: RequestInit = {}): Promise<Probe> {
  const response = await fetch(url, init);
  return { status: response.status, text: await response.text() };
}

const READY: Probe = { status: 200, text: '{"status":"ready"}' };

describe.each([{ workers: 1 }, { workers: 2 }])("with $workers workers", ({ workers }) => {
  test("is open to callers without a token, and shows neither sources nor the version", async () => {
    const url = await serve({ workers, token: "a-long-token-for-tests" });
    expect(await get(`${url}/readyz`)).toEqual(READY);
    expect((await get(`${url}/status`)).status).toBe(401);
  });

  test("is served at the root and below the base path", async () => {
    const url = await serve({ workers, base_path: "/tools" });
    const root = new URL(url).origin;
    expect(await get(`${url}/readyz`)).toEqual(READY);
    expect(await get(`${root}/readyz`)).toEqual(READY);
    expect((await get(`${root}/status`)).status).toBe(404);
    expect((await get(`${root}/elsewhere/readyz`)).status).toBe(404);
  });

  test("refuses other methods with 405 in its own format", async () => {
    const url = await serve({ workers });
    expect(await get(`${url}/readyz`, { method: "POST" })).toEqual({
      status: 405,
      text: '{"error":"Method not allowed."}',
    });
    expect(await get(`${url}/readyz`, { method: "HEAD" })).toEqual({ status: 200, text: "" });
  });

  test("reports 503 while a required source does not exist, and `/healthz` still reports 200", async () => {
    const url = await serve({ workers, ready_requires: ["database"] });
    expect(await get(`${url}/readyz`)).toEqual({ status: 503, text: '{"status":"unavailable"}' });
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });
});

test("reports 503 until a slow server has listed its tools", async () => {
  const mcp = { stdio_servers: { one: { command: legacyServer() } } };
  const url = await serve({ ready_requires: ["one"] }, { mcp });
  const seen = new Set<string>();
  await expect
    .poll(async () => {
      const { text } = await get(`${url}/readyz`);
      seen.add(text);
      return text;
    })
    .toBe('{"status":"ready"}');
  for (const text of seen) expect(text).toMatch(/^\{"status":"(?:starting|unavailable|ready)"\}$/);
});

test("answers a standard `Request` through `serveFetch`", async () => {
  hub = await createHub({ variables: {}, settings: { server: { base_path: "/tools" } } });
  const served = await hub.serveFetch();
  for (const path of ["/readyz", "/tools/readyz"]) {
    const response = await served.fetch(new Request(`http://localhost${path}`));
    expect([response.status, await response.json()]).toEqual([200, { status: "ready" }]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("accepts the forwarded host of a trusted proxy if it is an allowed host", async () => {
  const url = await serve({ trusted_proxy: ["127.0.0.1"], allowed_hosts: ["tools.example.com"] });
  const forwarded = { "x-forwarded-host": "tools.example.com", "x-forwarded-proto": "https" };
  expect(await get(`${url}/readyz`, { headers: forwarded })).toEqual(READY);
});

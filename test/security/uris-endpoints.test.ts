// The same spellings on endpoints with a stream: a server must only receive URIs that the caller's rights allow, for
// every endpoint.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { NarrowRights } from "../../packages/toolyard/src/core/ports/permission.ts";
import { createSessionDeps } from "../../packages/toolyard/src/endpoints/mcp/legacy/session-deps.ts";
import { StdioEndpoint } from "../../packages/toolyard/src/endpoints/mcp/stdio-endpoint.ts";
import { resolveJsonLimits } from "../../packages/toolyard/src/http/options.ts";
import { loadHubConfig, openHub } from "../../packages/toolyard/src/hub/open-hub.ts";
import { createMcpParts } from "../../packages/toolyard/src/endpoints/mcp/mcp-parts.ts";
import { resolveMcpEndpoint } from "../../packages/toolyard/src/endpoints/mcp/options.ts";
import { resolveLegacySessions } from "../../packages/toolyard/src/endpoints/mcp/legacy/options.ts";
import { openAccess } from "../../packages/toolyard/src/core/access.ts";
import { getService } from "../../packages/toolyard/src/kernel/start-features.ts";
import { STATE } from "../../packages/toolyard/src/state/ports/store.ts";
import { createProtocolSink } from "../../packages/toolyard/src/process/stdout-guard.ts";
import { RawClient, type EraName } from "../fixtures/raw/raw-client.ts";
import { SseWire } from "../fixtures/raw/sse-wire.ts";
import type { RawWire } from "../fixtures/raw/wire.ts";
import { createRandom } from "../support/random.ts";

import { isRefused, openTarget, openUpstream, tool, type Target, type Upstream } from "./attack.ts";
import { ALLOWED, DENIED, HOSTILE, isPublic, isSecret, opened, spell } from "./uri-spellings.ts";

const CASES = 150;
const SEED = 645_372;
const SPELLINGS = Array.from({ length: CASES }, (_, at) => spell(createRandom(SEED + at)));
/** Maximum number of URIs in one `subscriptions/listen`. */
const AT_ONCE = 50;

const GUESTS = {
  guest: { token: "guest-token-1", rights: { allow: ALLOWED } satisfies NarrowRights },
  barred: { token: "barred-token-2", rights: { deny: DENIED } satisfies NarrowRights },
} as const;
type GuestName = keyof typeof GUESTS;

/** A pipe to a hub in this process, with a client that has a guest's rights. */
class PipeEndpointWire implements RawWire {
  onMessage: (message: JsonObject) => void = () => {};
  onFault: (error: Error) => void = () => {};
  readonly hasRequestStreams = false;
  readonly #input: PassThrough;
  readonly #end: () => Promise<void>;

  private constructor(input: PassThrough, output: PassThrough, end: () => Promise<void>) {
    this.#input = input;
    this.#end = end;
    let rest = "";
    output.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.onMessage(JSON.parse(line) as JsonObject);
    });
  }

  static async open(url: string, name: GuestName): Promise<PipeEndpointWire> {
    const home = await mkdtemp(join(tmpdir(), "toolyard-uris-"));
    const variables = { PATH: process.env["PATH"], TOOLYARD_HOME: home };
    const flags = { limits: { rate_per_minute: 0 }, mcp: { remote_servers: [{ namespace: "files", url }] } };
    const config = await loadHubConfig({ files: [], variables, flags });
    const hub = await openHub({ config, variables, logger: SILENT_LOGGER });
    const access = openAccess({ id: name, rights: GUESTS[name].rights });
    const options = { ...resolveMcpEndpoint(), sessions: resolveLegacySessions() };
    const services = { hub: hub.port, logger: SILENT_LOGGER, state: getService(hub.services, STATE), access };
    const mcp = createMcpParts(options, services);
    const session = createSessionDeps(mcp.session);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const endpoint = new StdioEndpoint({
      ...session,
      modern: mcp.modern,
      authenticator: access.authenticator,
      jsonLimits: resolveJsonLimits({}),
      input,
      output: createProtocolSink(output),
    });
    endpoint.start();
    return new PipeEndpointWire(input, output, async () => {
      await endpoint.close(0);
      mcp.modern.close();
      session.board.close();
      await hub.close();
      await rm(home, { recursive: true, force: true });
    });
  }

  async send(message: JsonObject): Promise<void> {
    this.#input.write(`${JSON.stringify(message)}\n`);
  }

  async opened(): Promise<void> {}

  async close(): Promise<void> {
    this.#input.end();
    await this.#end();
  }
}

let server: Upstream;
let target: Target;
beforeAll(async () => {
  server = await openUpstream({
    tools: [tool("x")],
    capabilities: { tools: {}, resources: { subscribe: true } },
    templates: [{ uriTemplate: "file:///{+path}", name: "files" }],
  });
  const tokens = Object.fromEntries(
    Object.entries(GUESTS).map(([name, { token, rights }]) => [name, { token, ...rights }]),
  );
  target = await openTarget({
    server: { tokens },
    mcp: { remote_servers: [{ namespace: "files", url: server.url }] },
  });
  await target.hub.list();
});
afterAll(async () => {
  await target?.[Symbol.asyncDispose]();
  await server?.close();
});

/** Returns the URIs that the server received after the first `count`. */
function askedSince(count: number): readonly string[] {
  return server.received
    .slice(count)
    .filter(({ method }) => method === "resources/read" || method === "resources/subscribe")
    .map(({ params }) => String(params["uri"]));
}

const WAYS: readonly (readonly [string, EraName, (name: GuestName) => Promise<RawWire>])[] = [
  ["HTTP+SSE", "legacy", async (name) => new SseWire(sseUrl(), { authorization: `Bearer ${GUESTS[name].token}` })],
  ["stdio", "legacy", (name) => PipeEndpointWire.open(server.url, name)],
  ["stdio", "modern", (name) => PipeEndpointWire.open(server.url, name)],
];

function sseUrl(): string {
  return target.url.replace(/\/mcp$/, "/sse");
}

async function read(client: RawClient, uri: string): Promise<boolean> {
  return !isRefused(await client.request("resources/read", { uri }));
}

/** Subscribes to URIs and returns those that the server received. */
async function listen(client: RawClient, uris: readonly string[]): Promise<readonly string[]> {
  if (client.era === "legacy") {
    const replies = await Promise.all(uris.map((uri) => client.request("resources/subscribe", { uri })));
    return uris.filter((_uri, at) => !isRefused(replies[at]!));
  }
  const told = client.next("notifications/subscriptions/acknowledged");
  await client.listen(uris);
  const wanted = objectMember(objectMember(await told, "params") ?? {}, "notifications");
  return (wanted?.["resourceSubscriptions"] ?? []) as readonly string[];
}

function expectPermitted(name: GuestName, uri: string): void {
  const paths = opened(uri);
  const told = `${JSON.stringify(uri)} → ${paths.join(" ")}`;
  if (name === "guest") expect(paths.every(isPublic), told).toBe(true);
  else expect(paths.some(isSecret), told).toBe(false);
}

const NAMES = ["guest", "barred"] as const;

describe.each(WAYS)("by %s of the %s era", (_way, era, open) => {
  test.each(NAMES)("S15: a %s client reads and subscribes to no hostile URI", async (name) => {
    await using client = await RawClient.open(await open(name), { era });
    const before = server.received.length;
    for (const uri of HOSTILE) expect(await read(client, uri), uri).toBe(false);
    expect(await listen(client, HOSTILE)).toEqual([]);
    expect(askedSince(before)).toEqual([]);
  });

  test.each(NAMES)(
    `S15: of ${CASES} spellings from seed ${SEED} a %s client reaches only permitted ones`,
    async (name) => {
      await using client = await RawClient.open(await open(name), { era });
      const before = server.received.length;
      let count = 0;
      for (const uri of SPELLINGS) if (await read(client, uri)) count += 1;
      for (let at = 0; at < CASES; at += AT_ONCE)
        count += (await listen(client, SPELLINGS.slice(at, at + AT_ONCE))).length;
      for (const uri of askedSince(before)) expectPermitted(name, uri);
      expect(count).toBeGreaterThan(CASES / 20);
    },
  );
});

describe("by `subscriptions/listen` over HTTP", () => {
  test.each(NAMES)("S15: a %s token subscribes to no hostile URI", async (name) => {
    const client = await target.client(GUESTS[name].token, { era: "modern" });
    const before = server.received.length;
    expect(await listen(client, HOSTILE)).toEqual([]);
    expect(askedSince(before)).toEqual([]);
  });

  test.each(NAMES)(
    `S15: of ${CASES} spellings from seed ${SEED} a %s token is notified only of permitted ones`,
    async (name) => {
      const client = await target.client(GUESTS[name].token, { era: "modern" });
      const before = server.received.length;
      const heard: string[] = [];
      for (let at = 0; at < CASES; at += AT_ONCE)
        heard.push(...(await listen(client, SPELLINGS.slice(at, at + AT_ONCE))));
      for (const uri of [...heard, ...askedSince(before)]) expectPermitted(name, uri);
      expect(heard.length).toBeGreaterThan(CASES / 20);
    },
  );
});

// Pages of other sites, and of other ports of this machine, against every endpoint: requests that they may send without
// a preflight must neither call a tool nor read data.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { createRandom, type Random } from "../support/random.ts";
import { JSON_HEADERS, rpc, sendRaw, type RawAnswer, type RawRequest } from "./attack.ts";

const CONFIGURED = "https://app.example";
/** Number of cases for each hub. */
const CASES = 600;
const SEED = 99_887_766;

let hub: LibraryHub;
let port: number;
let runs = 0;

beforeAll(async () => {
  hub = await createHub({
    variables: {},
    settings: {
      server: { port: 0, cors_origins: [CONFIGURED] },
      rest: { routes: { "GET /count": "count.up", "POST /count": "count.up", "DELETE /count": "count.up" } },
    },
    registerTools: (own) => {
      own.registerTool("count.up", () => (runs += 1), { type: "object" }, "Counts");
      own.registerResource("count://now", () => ({ runs: (runs += 1) }), "The count");
    },
  });
  port = (await hub.serve()).address.port;
});
afterAll(() => hub.close());

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const MODERN = { ...JSON_HEADERS, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" };
const RESOURCE = "?uri=count%3A%2F%2Fnow";

/** Requests that call the tool or read the resource once if nothing forbids it. */
const ENDPOINTS: Readonly<Record<string, RawRequest>> = {
  "JSON-RPC at /": { path: "/", headers: JSON_HEADERS, body: rpc("count.up") },
  "JSON-RPC at /jsonrpc": { path: "/jsonrpc", headers: JSON_HEADERS, body: rpc("count.up") },
  "a batch at /jsonrpc": { path: "/jsonrpc", headers: JSON_HEADERS, body: `[${rpc("count.up")}]` },
  "MCP's own method at /": {
    path: "/",
    headers: JSON_HEADERS,
    body: rpc("tools/call", { name: "count.up", arguments: {} }),
  },
  "modern MCP at /mcp": {
    path: "/mcp",
    headers: { ...MODERN, "mcp-name": "count.up" },
    body: rpc("tools/call", { name: "count.up", arguments: {}, _meta: META }),
  },
  "modern MCP at /": {
    path: "/",
    headers: { ...MODERN, "mcp-name": "count.up" },
    body: rpc("tools/call", { name: "count.up", arguments: {}, _meta: META }),
  },
  "REST by name": { path: "/api/tools/count.up", headers: JSON_HEADERS, body: "{}" },
  "a path of REST": { path: "/count", headers: JSON_HEADERS, body: "{}" },
  "a path of REST by GET": { method: "GET", path: "/count" },
  "a path of REST by DELETE": { method: "DELETE", path: "/count" },
  "a resource at /": { method: "GET", path: `/${RESOURCE}` },
  "a resource at /jsonrpc": { method: "GET", path: `/jsonrpc${RESOURCE}` },
  "a resource of REST": { method: "GET", path: `/api/resources${RESOURCE}` },
};

async function ask(
  endpoint: RawRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer & { ran: boolean }> {
  const before = runs;
  const answer = await sendRaw(port, {
    ...endpoint,
    headers: { host: `127.0.0.1:${port}`, ...endpoint.headers, ...headers },
  });
  return { ...answer, ran: runs > before };
}

describe.each(Object.entries(ENDPOINTS))("S3: %s", (_name, endpoint) => {
  test("runs for a program, for a page of the hub itself and for a configured origin", async () => {
    for (const headers of [
      {},
      { origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" },
      { origin: CONFIGURED },
    ])
      expect((await ask(endpoint, headers)).ran, JSON.stringify(headers)).toBe(true);
  });

  test("does not run for a page of another port or site, and names the option that would allow it", async () => {
    for (const origin of [
      "http://localhost:3000",
      "http://127.0.0.1:1",
      `http://localhost:${port}`,
      "https://evil.example",
      "null",
    ]) {
      const { status, ran, body } = await ask(endpoint, { origin });
      expect([ran, status, body], origin).toEqual([false, 403, expect.stringContaining("server.cors_origins")]);
    }
  });

  test("does not run for images and links of another port or site", async () => {
    for (const site of ["cross-site", "same-site"])
      for (const dest of ["image", "script", "iframe", "empty", "document"]) {
        const { status, ran } = await ask(endpoint, { "sec-fetch-site": site, "sec-fetch-dest": dest });
        expect([ran, status], `${site} ${dest}`).toEqual([false, 403]);
      }
  });

  if (endpoint.body !== undefined)
    test("does not run for a body type that needs no preflight", async () => {
      for (const type of [
        "text/plain",
        "text/plain;charset=application/json",
        "application/x-www-form-urlencoded",
        "",
      ]) {
        const { status, ran } = await ask(endpoint, { "content-type": type, "sec-fetch-site": "same-origin" });
        expect([ran, status], type).toEqual([false, 415]);
        if (isOpenToPrograms(endpoint)) continue;
        const plain = await ask(endpoint, { "content-type": type });
        expect([plain.ran, plain.status], type).toEqual([false, 415]);
      }
    });
});

test("S3: HTTP+SSE refuses a stream for another site's link, and a body that needs no preflight", async () => {
  const sse = await ask(
    { method: "GET", path: "/sse" },
    { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" },
  );
  expect(sse.status).toBe(403);
  const posted = await ask({
    path: "/messages?sessionId=x",
    headers: { "content-type": "text/plain" },
    body: rpc("ping"),
  });
  expect(posted.status).toBeGreaterThanOrEqual(400);
});

test("S3: a request target with a URL must name the server of its `Host`, or runs nothing", async () => {
  const endpoint = ENDPOINTS["JSON-RPC at /jsonrpc"]!;
  const at = (authority: string): Promise<RawAnswer & { ran: boolean }> =>
    ask({ ...endpoint, path: `http://${authority}/jsonrpc` });
  expect((await at(`127.0.0.1:${port}`)).ran).toBe(true);
  for (const authority of ["evil.example", `localhost:${port}`, `127.0.0.1:${port}@evil.example`, ""]) {
    const { ran, status } = await at(authority);
    expect([ran, status], authority).toEqual([false, 400]);
  }
});

test("S3: accepts only known names as `Host`, in any spelling", async () => {
  const endpoint = ENDPOINTS["JSON-RPC at /jsonrpc"]!;
  const names = ["localhost.", "evil.localhost", "localhost.evil.example", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]"];
  const hosts = names.map((name) => `${name}:${port}`);
  for (const host of [...hosts, `127.0.0.1:${port}@evil.example`, `evil.example@127.0.0.1:${port}`, "127.0.0.1, a.b"])
    for (const headers of [{ host }, { host, origin: `http://${host}` }]) {
      const { ran, status } = await ask(endpoint, headers);
      expect([ran, status], JSON.stringify(headers)).toEqual([false, 403]);
    }
});

interface Case {
  readonly endpoint: string;
  readonly headers: Record<string, string>;
  readonly mayRun: boolean;
}

/** Returns the expected result of a page's request: the rule, implemented a second time. */
// oxlint-disable-next-line complexity -- One line per part of a page's request.
function draw(random: Random): Case {
  const endpoint = random.pick(Object.keys(ENDPOINTS));
  const host = random.pick([
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
    "localhost",
  ]);
  const headers: Record<string, string> = { host };
  const origin = drawOrigin(random, host);
  if (origin !== undefined) headers["origin"] = origin;
  const site = random.pick([undefined, "none", "same-origin", "same-site", "cross-site"]);
  if (site !== undefined) headers["sec-fetch-site"] = site;
  const dest = random.pick([undefined, "document", "image", "iframe", "empty"]);
  if (dest !== undefined) headers["sec-fetch-dest"] = dest;
  const hasBody = ENDPOINTS[endpoint]!.body !== undefined;
  const type = hasBody ? random.pick(TYPES) : undefined;
  if (type !== undefined) headers["content-type"] = type;
  const isKnown = origin === undefined || origin === CONFIGURED || isSame(origin, host);
  const isProgram =
    origin === undefined &&
    site === undefined &&
    dest === undefined &&
    !endpoint.startsWith("modern MCP") &&
    isOpenToPrograms(ENDPOINTS[endpoint]!);
  const isForeign = origin === undefined && (site === "same-site" || site === "cross-site");
  return {
    endpoint,
    headers,
    mayRun: isKnown && !isForeign && (type === undefined || isProgram || /^application\/json(;|$)/i.test(type)),
  };
}

/** Returns true if a request without browser headers needs no JSON type: `curl -d` at the JSON-RPC endpoint. */
function isOpenToPrograms({ path }: { readonly path?: string | undefined }): boolean {
  return path === "/" || path === "/jsonrpc";
}

const TYPES = [
  "application/json",
  "application/json",
  "Application/JSON; charset=utf-8",
  "text/plain",
  "text/plain; application/json",
  "multipart/form-data; boundary=application/json",
  "application/x-www-form-urlencoded",
  "application/json, text/plain",
];

function drawOrigin(random: Random, host: string): string | undefined {
  const name = random.pick(["localhost", "127.0.0.1", "[::1]", "127.0.0.2", "app.example", "evil.example"]);
  const at = random.pick(["", `:${port}`, ":80", ":443", ":3000"]);
  const scheme = random.pick(["http", "https", "HTTP", "ws", "file"]);
  return random.pick([undefined, undefined, CONFIGURED, "null", `http://${host}`, `${scheme}://${name}${at}`]);
}

/** Compares case-insensitively: browsers send schemes and hosts in lower case, and other clients are not affected. */
function isSame(origin: string, host: string): boolean {
  if (!/^https?:/i.test(origin)) return false;
  const { protocol } = new URL(origin);
  return new URL(origin).host === new URL(`${protocol}//${host}`).host;
}

test("S3: runs only the requests of permitted pages, with any headers", async () => {
  const random = createRandom(SEED);
  const wrong: string[] = [];
  let [may, mayNot] = [0, 0];
  for (let count = 0; count < CASES; count += 1) {
    const { endpoint, headers, mayRun } = draw(random);
    const { ran, status } = await ask(ENDPOINTS[endpoint]!, headers);
    if (mayRun) may += 1;
    else mayNot += 1;
    if (ran !== mayRun || (!ran && status !== 403 && status !== 415))
      wrong.push(`${endpoint} ${JSON.stringify(headers)}: ${status}, ran: ${ran}`);
  }
  expect(wrong).toEqual([]);
  expect(Math.min(may, mayNot)).toBeGreaterThan(CASES / 10);
});

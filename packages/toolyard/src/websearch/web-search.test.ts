import type { RequestListener, ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import {
  BRAVE_BAD_KEY,
  BRAVE_JSON,
  BRAVE_RATE_LIMITED,
  DUCKDUCKGO_CAPTCHA,
  DUCKDUCKGO_HTML,
  DUCKDUCKGO_LITE,
  DUCKDUCKGO_NONE,
  SEARXNG_JSON,
} from "../../../../test/fixtures/web-search/pages.ts";
import { sendJson, startServer, type RunningServer } from "../../../../test/fixtures/http-servers.ts";
import { resolveWebSearch, type WebSearchConfig } from "./options.ts";
import { WebSearch } from "./web-search.ts";

const opened: (RunningServer | WebSearch)[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function serve(listener: RequestListener, path = "/html/"): Promise<RunningServer> {
  const server = await startServer(listener, { path });
  opened.push(server);
  return server;
}

function open(config: WebSearchConfig): WebSearch {
  const search = new WebSearch(resolveWebSearch({ min_interval: 0, timeout: "5s", ...config }), {});
  opened.push(search);
  return search;
}

function sendHtml(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { "content-type": "text/html; charset=UTF-8" }).end(html);
}

/** Returns the result of one search against a server that always sends the same response. */
async function searchAt(config: WebSearchConfig, listener: RequestListener, query = "otters") {
  const server = await serve(listener);
  return open({ base_url: server.url, ...config }).search({ query });
}

const SEA = { title: "The sea otter & its kin", link: "https://otters.example/sea", snippet: "It stays in the water." };
const RIVER = { title: "River otters", link: "https://rivers.example/otter", snippet: "They live in rivers." };

describe("DuckDuckGo", () => {
  test("C43: returns hits in plain text, without advertisements and redirect links", async () => {
    let body = "";
    const server = await serve((request, response) => {
      request
        .on("data", (chunk: Buffer) => (body += chunk.toString()))
        .on("end", () => sendHtml(response, 200, DUCKDUCKGO_HTML));
    });
    const answer = await open({ base_url: server.url }).search({ query: "  otters & co " });
    expect(answer).toEqual({
      ok: true,
      hits: [
        {
          title: SEA.title,
          link: "https://otters.example/sea?a=1&b=2",
          snippet: 'It doesn\'t leave the water "often".',
        },
        RIVER,
      ],
    });
    expect(new URLSearchParams(body).get("q")).toBe("otters & co");
    expect(server.seen[0]).toMatchObject({
      method: "POST",
      url: "/html/",
      headers: { "user-agent": expect.stringMatching(/^toolyard\/\d/) as string },
    });
  });

  test("returns hits of the lite page in the same form", async () => {
    const answer = await searchAt({}, (_request, response) => sendHtml(response, 200, DUCKDUCKGO_LITE));
    expect(answer).toEqual({ ok: true, hits: [{ title: "The sea otter", link: SEA.link, snippet: SEA.snippet }] });
  });

  test("a snippet ends with its element; entities and line breaks are decoded", async () => {
    const page =
      '<div class="result"><a class="result__a" href="https://otters.example/sea">Caf&eacute;<br>&amp; bar</a>' +
      '<div class="result__snippet">one <div>two<p>three</div> four</div> <div>not part of it</div></div>';
    expect(await searchAt({}, (_request, response) => sendHtml(response, 200, page))).toEqual({
      ok: true,
      hits: [{ title: "Café & bar", link: "https://otters.example/sea", snippet: "one twothree four" }],
    });
  });

  test("returns an empty list for a page that reports no results", async () => {
    expect(await searchAt({}, (_request, response) => sendHtml(response, 200, DUCKDUCKGO_NONE))).toEqual({
      ok: true,
      hits: [],
    });
  });

  test.each([202, 200])("C43: reports a captcha with status %i as a failure, and pauses", async (status) => {
    const server = await serve((_request, response) => sendHtml(response, status, DUCKDUCKGO_CAPTCHA));
    const search = open({ base_url: server.url });
    expect(await search.search({ query: "otters" })).toMatchObject({
      ok: false,
      kind: "limited",
      message: expect.stringContaining("captcha") as string,
      retryAfterMs: 60_000,
    });
    expect(await search.search({ query: "badgers" })).toMatchObject({
      ok: false,
      kind: "limited",
      message: expect.stringContaining("pause") as string,
    });
    expect(server.seen).toHaveLength(1);
  });

  test("C43: fails for a page that has no results and does not report that it has none", async () => {
    expect(await searchAt({}, (_request, response) => sendHtml(response, 200, "<html><body>Welcome"))).toMatchObject({
      ok: false,
      kind: "malformed",
    });
  });
});

describe("SearXNG", () => {
  test("returns the hits of a response, without entries that are not pages", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, SEARXNG_JSON), "");
    expect(await open({ backend: "searxng", base_url: server.url }).search({ query: "otters" })).toEqual({
      ok: true,
      hits: [SEA, RIVER],
    });
    expect(server.seen[0]?.url).toBe("/search?q=otters&format=json&safesearch=1");
  });

  test("reports failed engines as a failure, not as an empty list", async () => {
    const answer = await searchAt({ backend: "searxng" }, (_request, response) =>
      sendJson(response, 200, { ...SEARXNG_JSON, results: [] }),
    );
    expect(answer).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("qwant: timeout") as string,
    });
  });

  test("returns an empty list if all engines answered without results", async () => {
    expect(
      await searchAt({ backend: "searxng" }, (_request, response) =>
        sendJson(response, 200, { results: [], unresponsive_engines: [] }),
      ),
    ).toEqual({ ok: true, hits: [] });
  });

  test("reports how to enable JSON on an instance without it", async () => {
    const answer = await searchAt({ backend: "searxng" }, (_request, response) =>
      sendHtml(response, 403, "<h1>Forbidden</h1>"),
    );
    expect(answer).toMatchObject({
      ok: false,
      kind: "denied",
      message: expect.stringContaining("search.formats") as string,
    });
  });

  test.each([
    ["broken", '{"results": [{'],
    ["of another kind", "[]"],
    ["no list", '{"results": {}}'],
  ])("fails for JSON that is %s", async (_what, text) => {
    expect(await searchAt({ backend: "searxng" }, (_request, response) => void response.end(text))).toMatchObject({
      ok: false,
      kind: "malformed",
    });
  });
});

describe("Brave", () => {
  test("returns the hits of a response, and sends the key in the header", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, BRAVE_JSON), "/res/v1/web/search");
    expect(
      await open({ backend: "brave", api_key: "brave-key", base_url: server.url }).search({
        query: "otters",
        count: 20,
      }),
    ).toEqual({ ok: true, hits: [SEA, RIVER] });
    expect(server.seen[0]).toMatchObject({
      url: "/res/v1/web/search?q=otters&count=20&safesearch=moderate&text_decorations=false",
      headers: { "x-subscription-token": "brave-key" },
    });
  });

  test.each([
    ["a wrong key", 422, BRAVE_BAD_KEY, {}, { kind: "denied" }],
    [
      "too many requests",
      429,
      BRAVE_RATE_LIMITED,
      { "x-ratelimit-reset": "1, 1419704" },
      { kind: "limited", retryAfterMs: 1000 },
    ],
    [
      "too many requests with a date",
      429,
      BRAVE_RATE_LIMITED,
      { "retry-after": "7" },
      { kind: "limited", retryAfterMs: 7000 },
    ],
    ["a fault of its own", 503, {}, {}, { kind: "unavailable" }],
  ])("fails for %s without showing the key", async (_what, status, value, headers, expected) => {
    const answer = await searchAt({ backend: "brave", api_key: "brave-key" }, (_request, response) =>
      sendJson(response, status, value, headers as Record<string, string>),
    );
    expect(answer).toMatchObject({ ok: false, ...expected });
    expect(JSON.stringify(answer)).not.toContain("brave-key");
  });
});

describe("every service", () => {
  const searxng = { backend: "searxng" } as const;

  test("S10: follows a redirect within the host", async () => {
    const answer = await searchAt(searxng, (request, response) => {
      if (request.url?.startsWith("/html/search?"))
        return void response.writeHead(302, { location: `/moved${request.url.slice(12)}` }).end();
      sendJson(response, 200, SEARXNG_JSON);
    });
    expect(answer).toMatchObject({ ok: true, hits: [SEA, RIVER] });
  });

  test("S10: does not follow a redirect to another host", async () => {
    const elsewhere = await serve((_request, response) => sendJson(response, 200, SEARXNG_JSON));
    const answer = await searchAt(
      searxng,
      (_request, response) => void response.writeHead(302, { location: elsewhere.url }).end(),
    );
    expect(answer).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("another host") as string,
    });
    expect(elsewhere.seen).toHaveLength(0);
  });

  test.each([
    ["to a file", "file:///etc/passwd"],
    ["without an end", "/html/search"],
  ])("S10: stops a redirect %s", async (_what, location) => {
    expect(
      await searchAt(searxng, (_request, response) => void response.writeHead(302, { location }).end()),
    ).toMatchObject({ ok: false, kind: "unavailable" });
  });

  test("S10: aborts a body that never ends", async () => {
    const answer = await searchAt({ ...searxng, max_body: "64KiB" }, (_request, response) => {
      const pump = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", pump);
      pump();
    });
    expect(answer).toMatchObject({ ok: false, kind: "too_large" });
  });

  test.each([
    ["never answers", () => {}],
    ["never ends its answer", (response: ServerResponse) => void response.write("{")],
  ])("reports a service that %s as a timeout", async (_what, respond) => {
    expect(await searchAt({ ...searxng, timeout: "100ms" }, (_request, response) => respond(response))).toMatchObject({
      ok: false,
      kind: "timeout",
    });
  });

  test("reports an unreachable service as unavailable", async () => {
    const server = await serve(() => {});
    await server.close();
    expect(await open({ ...searxng, base_url: server.url }).search({ query: "otters" })).toMatchObject({
      ok: false,
      kind: "unavailable",
    });
  });

  test("reports a service that hangs up as unavailable", async () => {
    expect(await searchAt(searxng, (request) => void request.socket.destroy())).toMatchObject({
      ok: false,
      kind: "unavailable",
    });
  });

  test("a disconnecting caller aborts the request", async () => {
    const caller = new AbortController();
    const server = await serve(() => caller.abort());
    expect(
      await open({ ...searxng, base_url: server.url }).search({ query: "otters", signal: caller.signal }),
    ).toMatchObject({ ok: false, kind: "cancelled" });
  });

  test("sends an equal query once, and repeats a failed one", async () => {
    let isBroken = true;
    const server = await serve((_request, response) =>
      isBroken ? sendJson(response, 500, {}) : sendJson(response, 200, SEARXNG_JSON),
    );
    const search = open({ ...searxng, base_url: server.url });
    expect(await search.search({ query: "otters" })).toMatchObject({ ok: false });
    isBroken = false;
    expect(await search.search({ query: "otters" })).toMatchObject({ ok: true });
    expect(await search.search({ query: "otters", count: 1 })).toEqual({ ok: true, hits: [SEA] });
    expect(server.seen).toHaveLength(2);
  });

  test.each([
    ["no words", { query: "  " }],
    ["too many words", { query: "x".repeat(501) }],
    ["no count", { query: "otters", count: 0 }],
    ["a broken count", { query: "otters", count: 1.5 }],
    ["too high a count", { query: "otters", count: 21 }],
  ])("refuses %s before any request", async (_what, request) => {
    expect(await open({ ...searxng, base_url: "http://127.0.0.1:9/" }).search(request)).toMatchObject({
      ok: false,
      kind: "invalid_params",
    });
  });
});

describe("options", () => {
  test("without options, queries DuckDuckGo once per second", () => {
    expect(resolveWebSearch()).toMatchObject({
      backend: "duckduckgo",
      minIntervalMs: 1000,
      timeoutMs: 10_000,
      cacheMs: 300_000,
      baseUrl: new URL("https://html.duckduckgo.com/html/"),
    });
  });

  test.each<[string, WebSearchConfig, RegExp]>([
    ["brave without a key", { backend: "brave" }, /web_search\.api_key/],
    ["searxng without a place", { backend: "searxng" }, /web_search\.base_url/],
    ["an address that is no web address", { base_url: "ftp://example.com" }, /web_search\.base_url/],
    ["an address with a password", { base_url: "http://a:secret@example.com" }, /user name or a password/],
    ["no time", { timeout: 0 }, /web_search\.timeout/],
    ["a header in the user agent", { user_agent: "a\r\nx: y" }, /user_agent/],
  ])("refuses %s", (_what, config, message) => {
    expect(() => resolveWebSearch(config)).toThrow(message);
  });
});

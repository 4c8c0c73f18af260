import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { HttpExchange } from "../../http/exchange.ts";
import { nextHubId } from "../../core/hub-id.ts";
import { AppDocuments, appPolicy, hubOfApp, readAppPage, readDomains, type AppPage } from "./app-documents.ts";
import { appUri } from "./app-uri.ts";

const NONE = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };

function pageOf(html: string, owner = "ann"): AppPage {
  return { html, domains: NONE, owner };
}

function exchangeWith(headers: Readonly<Record<string, string>>): { exchange: HttpExchange; sent: unknown[] } {
  const sent: unknown[] = [];
  const answer = { send: (...all: unknown[]) => void sent.push(...all) };
  return { exchange: { header: (name: string) => headers[name], answer } as unknown as HttpExchange, sent };
}

test("reads the hub of an address, and refuses an address outside of a frame", () => {
  const own = new AppDocuments().add(pageOf("<p>")).slice("app/".length);
  const other = new AppDocuments({ hub: "hub-a-1" }).add(pageOf("<p>")).slice("app/".length);
  for (const headers of [{ "sec-fetch-dest": "iframe" }, {}]) {
    const { exchange } = exchangeWith(headers as Record<string, string>);
    expect([hubOfApp(exchange, own), hubOfApp(exchange, other)]).toEqual([undefined, "hub-a-1"]);
  }
  for (const place of ["document", "image", "empty", "script"])
    expect(() => hubOfApp(exchangeWith({ "sec-fetch-dest": place }).exchange, own)).toThrow("expired");
});

test("refuses an address with a text that is no id of a hub or no ticket", () => {
  const { exchange } = exchangeWith({ "sec-fetch-dest": "iframe" });
  const ticket = "t".repeat(43);
  expect(hubOfApp(exchange, `${nextHubId()}~${ticket}`)).toMatch(/^hub-/);
  for (const hub of ["", "x", "*", "hub-", "hub-x-1", "hub-a-1}", "{hub-a-1", `hub-${"a".repeat(5000)}-1`, "hub-a-"])
    expect(() => hubOfApp(exchange, `${hub}~${ticket}`), hub).toThrow("expired");
  for (const other of ["", "t", `${ticket}t`, `${ticket}~x`, `../${ticket}`])
    expect(() => hubOfApp(exchange, `hub-a-1~${other}`), other).toThrow("expired");
});

test("serves a document once and for a minute", () => {
  let now = 0;
  const documents = new AppDocuments({ now: () => now });
  const ticketOf = (path: string): string => path.slice("app/".length);
  const first = ticketOf(documents.add(pageOf("<p>one")));
  const { exchange, sent } = exchangeWith({ "sec-fetch-dest": "iframe" });
  documents.send(exchange, first);
  expect([sent[0], sent[2]]).toEqual([200, "<p>one"]);
  expect(() => documents.send(exchange, first)).toThrow("used or has expired");
  const third = ticketOf(documents.add(pageOf("<p>three")));
  now = 60_001;
  expect(() => documents.send(exchange, third)).toThrow("expired");
  expect(() => documents.send(exchange, "unknown")).toThrow("expired");
});

test("keeps at most 64 documents", () => {
  const documents = new AppDocuments();
  const paths = Array.from({ length: 65 }, (_, at) => documents.add(pageOf("<p>", `caller ${at}`)).slice(4));
  const { exchange } = exchangeWith({});
  expect(() => documents.send(exchange, paths[0]!)).toThrow("expired");
  expect(() => documents.send(exchange, paths[1]!)).not.toThrow();
});

test.each([
  ["16 documents", 17, "<p>"],
  ["10 million characters", 3, "x".repeat(4_000_000)],
])("removes the oldest document of a caller with more than %s, and none of another caller", (_limit, count, html) => {
  const documents = new AppDocuments();
  const other = documents.add(pageOf("other", "bob"));
  const [oldest, ...newer] = Array.from({ length: count }, () => documents.add(pageOf(html, "ann")));
  const open = (path: string): void => documents.send(exchangeWith({}).exchange, path.slice("app/".length));
  expect(() => open(oldest!)).toThrow("expired");
  for (const path of [other, ...newer]) expect(() => open(path)).not.toThrow();
});

test("keeps documents of at most 50 million characters", () => {
  const documents = new AppDocuments();
  const html = "x".repeat(5_000_000);
  const paths = Array.from({ length: 11 }, (_, at) => documents.add(pageOf(html, `caller ${at}`)).slice(4));
  const { exchange } = exchangeWith({});
  expect(() => documents.send(exchange, paths[0]!)).toThrow("expired");
  for (const path of paths.slice(1)) expect(() => documents.send(exchange, path)).not.toThrow();
});

test("releases a document after a minute without a request for it", () => {
  vi.useFakeTimers();
  try {
    const documents = new AppDocuments();
    documents.add(pageOf("<p>"));
    expect(vi.getTimerCount()).toBe(1);
    const path = documents.add(pageOf("<p>"));
    documents.send(exchangeWith({}).exchange, path.slice("app/".length));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ["https://api.example.com", true],
  ["wss://a.example.com:8443", true],
  ["https://*.example.com", true],
  ["http://localhost:3000", true],
  ["*", false],
  ["https:", false],
  ["https://*", false],
  ["'unsafe-eval'", false],
  ["data:", false],
  ["https://a.example; script-src *", false],
  ["https://a.example https://b.example", false],
  ["https://a.example/path", false],
  ["javascript:alert(1)", false],
  ["https://user@a.example", false],
  ["", false],
  [1, false],
])("accepts the declared origin %j: %s", (origin, isTaken) => {
  const { connectDomains } = readDomains({ ui: { csp: { connectDomains: [origin] } } });
  expect(connectDomains).toEqual(isTaken ? [origin] : []);
});

test("never permits an origin that the metadata does not declare, for any metadata", () => {
  const values = fc.oneof(fc.string(), fc.constantFrom("*", "'self'", "; default-src *", "https://x.example"));
  const list = fc.oneof(fc.array(values, { maxLength: 5 }), values, fc.constant(null));
  fc.assert(
    fc.property(list, list, (connectDomains, resourceDomains) => {
      const policy = appPolicy(readDomains({ ui: { csp: { connectDomains, resourceDomains } } }));
      const directives = policy.split("; ");
      expect(directives).toHaveLength(13);
      const allowed =
        /^(?:'none'|'unsafe-inline'|data:|blob:|'self'|allow-scripts|allow-forms|(?:https?|wss?):\/\/\S+)$/;
      for (const directive of directives)
        expect(
          directive
            .split(" ")
            .slice(1)
            .every((one) => allowed.test(one)),
        ).toBe(true);
      expect(directives.filter((one) => one.includes("'self'"))).toEqual(["frame-ancestors 'self'"]);
    }),
  );
});

test("permits no connections and no frames without metadata", () => {
  expect(appPolicy(readDomains({}))).toContain("connect-src 'none'; frame-src 'none'; base-uri 'none'");
});

test.each([
  [{ _meta: { ui: { resourceUri: "ui://a/b" } } }, "ui://a/b"],
  [{ _meta: { "ui/resourceUri": "ui://old" } }, "ui://old"],
  [{ _meta: { ui: { resourceUri: "https://evil.example" } } }, undefined],
  [{ _meta: { ui: { resourceUri: 1 } } }, undefined],
  [{}, undefined],
])("finds the page of %j", (definition, uri) => expect(appUri(definition)).toBe(uri));

test.each([
  [[{ mimeType: "text/html;profile=mcp-app", text: "<p>" }], "<p>"],
  [[{ mimeType: "text/html; profile=mcp-app", blob: "PHA+" }], "<p>"],
  [[{ mimeType: "text/html", text: "<p>" }], undefined],
  [[{ mimeType: "text/html;profile=mcp-app" }], undefined],
  [[{ mimeType: "text/html;profile=mcp-app", text: "x".repeat(5_000_001) }], undefined],
  [[], undefined],
])("finds the page in the contents of a resource, or none (%#)", (contents, html) =>
  expect(readAppPage({ contents })?.html).toBe(html),
);

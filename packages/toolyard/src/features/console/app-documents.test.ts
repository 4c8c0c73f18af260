import fc from "fast-check";
import { expect, test } from "vitest";
import type { HttpExchange } from "../../http/exchange.ts";
import { AppDocuments, appPolicy, appUri, readAppPage, readDomains } from "./app-documents.ts";

const NONE = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };

function exchangeWith(headers: Readonly<Record<string, string>>): { exchange: HttpExchange; sent: unknown[] } {
  const sent: unknown[] = [];
  const answer = { send: (...all: unknown[]) => void sent.push(...all) };
  return { exchange: { header: (name: string) => headers[name], answer } as unknown as HttpExchange, sent };
}

test("serves a document once, in a frame only, and for a minute", () => {
  let now = 0;
  const documents = new AppDocuments(() => now);
  const ticketOf = (path: string): string => path.slice("app/".length);
  const first = ticketOf(documents.add("<p>one", NONE));
  const { exchange, sent } = exchangeWith({ "sec-fetch-dest": "iframe" });
  documents.send(exchange, first);
  expect([sent[0], sent[2]]).toEqual([200, "<p>one"]);
  expect(() => documents.send(exchange, first)).toThrow("used or has expired");
  const second = ticketOf(documents.add("<p>two", NONE));
  expect(() => documents.send(exchangeWith({ "sec-fetch-dest": "document" }).exchange, second)).toThrow("expired");
  const third = ticketOf(documents.add("<p>three", NONE));
  now = 60_001;
  expect(() => documents.send(exchange, third)).toThrow("expired");
  expect(() => documents.send(exchange, "unknown")).toThrow("expired");
});

test("keeps at most 64 documents", () => {
  const documents = new AppDocuments();
  const paths = Array.from({ length: 65 }, () => documents.add("<p>", NONE).slice("app/".length));
  const { exchange } = exchangeWith({});
  expect(() => documents.send(exchange, paths[0]!)).toThrow("expired");
  expect(() => documents.send(exchange, paths[1]!)).not.toThrow();
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
])("takes the declared origin %j: %s", (origin, isTaken) => {
  const { connectDomains } = readDomains({ ui: { csp: { connectDomains: [origin] } } });
  expect(connectDomains).toEqual(isTaken ? [origin] : []);
});

test("never loosens the policy beyond the declared origins, for any metadata", () => {
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

test("has the restrictive default without metadata", () => {
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
])("reads the page of %#", (contents, html) => expect(readAppPage({ contents })?.html).toBe(html));

// Sign-ins of clients whose id is the address of their metadata document. Requests for documents go through the code of
// the hub, and from there to a local server instead of the public address.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type * as Documents from "../../packages/toolyard/src/auth/builtin/client-documents.ts";
import type { OutboundClient } from "../../packages/toolyard/src/outbound/outbound-client.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { json } from "./key-issuer.ts";
import { authorizationOf, openYard, redeem, refresh, signIn, statusWith, REDIRECT, Visitor } from "./builtin-yard.ts";

const ID = "https://client.example/oauth/metadata.json";
const DOCUMENT = { client_id: ID, client_name: "Editor", redirect_uris: [REDIRECT] };

const { place } = vi.hoisted(() => ({ place: { url: "" } }));

vi.mock("../../packages/toolyard/src/auth/builtin/client-documents.ts", async (load) => {
  const { createDocumentFetch } = await load<{ readonly createDocumentFetch: typeof Documents.createDocumentFetch }>();
  const local = (client: OutboundClient): OutboundClient =>
    ({
      request: (sent: Parameters<OutboundClient["request"]>[0]) =>
        client.request({ ...sent, url: new URL(new URL(String(sent.url)).pathname, place.url) }),
    }) as OutboundClient;
  return { createDocumentFetch: (client: OutboundClient) => createDocumentFetch(local(client), "origin") };
});

let toy: ToyHub;
let answer: (response: Parameters<typeof json>[0]) => void;
/** Paths of the documents that were read. */
const reads: string[] = [];
const server = createServer((request, response) => {
  reads.push(request.url ?? "");
  answer(response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  place.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  toy = await openYard({ dynamic_registration: false });
  answer = (response) => json(response, DOCUMENT);
});

afterEach(() => {
  answer = (response) => json(response, DOCUMENT);
});

afterAll(async () => {
  await toy[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

test("a client with a metadata document signs a user in, calls a tool and refreshes its token", async () => {
  const request = authorizationOf(toy, ID);
  const visitor = new Visitor(toy);
  const consent = await visitor.login(await visitor.open(request.url));
  // The host of the document is shown, because the client chooses its name freely.
  expect(consent.text).toContain("Editor (client.example)");
  expect(consent.text).toContain(new URL(REDIRECT).host);
  const back = new URL((await visitor.submit(consent, { action: "allow" })).location!);
  expect(back.searchParams.get("iss")).toBe(toy.served.address.url);
  const tokens = await redeem(toy, ID, { code: back.searchParams.get("code")!, verifier: request.verifier });
  expect(await statusWith(toy, tokens.access_token)).toBe(200);
  const fresh = await refresh(toy, ID, tokens.refresh_token!);
  expect(await statusWith(toy, fresh.access_token)).toBe(200);
  expect(reads).toContain("/oauth/metadata.json");
});

type Answer = (response: Parameters<typeof json>[0], document: object) => void;

test.each<[string, Answer]>([
  ["of another client", (response, document) => json(response, { ...document, client_id: ID })],
  ["without its own address", (response, document) => json(response, { ...document, client_id: undefined })],
  [
    "with other redirect addresses",
    (response, document) => json(response, { ...document, redirect_uris: ["https://x.example/"] }),
  ],
  ["that is HTML", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html></html>")],
  ["that redirects", (response) => response.writeHead(302, { location: `${place.url}/oauth/metadata.json` }).end()],
  ["of 10 MB", (response, document) => json(response, { ...document, filler: "x".repeat(10_000_000) })],
  ["that does not exist", (response, document) => json(response, document, 404)],
  ["with a shared secret", (response, document) => json(response, { ...document, client_secret: "0123456789abcdef" })],
])("refuses a client with a document %s", async (title, replaced) => {
  const id = `https://client.example/${encodeURIComponent(title)}.json`;
  answer = (response) => replaced(response, { ...DOCUMENT, client_id: id });
  const before = reads.length;
  const page = await new Visitor(toy).open(authorizationOf(toy, id).url);
  expect(new Set(reads.slice(before))).toEqual(new Set([new URL(id).pathname]));
  expect(page.status).toBe(400);
  expect(page.text).not.toContain('value="login"');
});

test("accepts a document with other valid members", async () => {
  const id = "https://client.example/second.json";
  answer = (response) => json(response, { ...DOCUMENT, client_id: id, application_type: "web", scope: "unknown" });
  const request = authorizationOf(toy, id);
  const code = (await signIn(toy, request)).searchParams.get("code")!;
  const tokens = await redeem(toy, id, { code, verifier: request.verifier });
  expect(await statusWith(toy, tokens.access_token)).toBe(200);
});

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import type { LibraryStore } from "../../src/store/store.ts";
import { idOfText } from "../../src/store/weaviate/weaviate-documents.ts";
import { doomedDocument } from "./doomed-document.ts";

const unavailable = { code: "STORE_UNAVAILABLE", failure: { kind: "unavailable" } };
const CLASSES = JSON.stringify({ description: "A document library of Toolyard, version 1" });
const NEAR = new Float32Array([1, 0]);
const WINDOW = { limit: 5, offset: 0 };

let server: Server | undefined;

afterEach(() => {
  vi.unstubAllEnvs();
  server?.closeAllConnections();
  server?.close();
});

/** Opens a library on a server that has its classes, and sends `answer` to every other request. */
async function opened(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<LibraryStore> {
  server = createServer((request, response) =>
    request.url!.startsWith("/v1/schema/") ? response.end(CLASSES) : answer(request, response),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return openStore(parseStore(`weaviate+http://127.0.0.1:${port}`));
}

describe("every query fails if Weaviate fails, and never returns an empty list", () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ["an error of the server", (response) => response.writeHead(500).end("out of memory")],
    ["a page in place of an answer", (response) => response.end("<html>Sign in</html>")],
    ["half an answer", (response) => response.end('{"data": {"Get": {')],
    ["an answer that is cut short", cutShort],
    ["a page that says 404", (response) => response.writeHead(404).end("<html>No such host</html>")],
    ["an answer without lists", (response) => response.end('{"data": {"Get": {}}}')],
    ["an answer with nothing in it", (response) => response.end('{"data": {"Get": null}}')],
    ["no answer", (response) => response.end()],
    ["something else", (response) => response.end("[]")],
  ])("%s", async (_, answer) => {
    const store = await opened((_request, response) => answer(response));
    const { document, text, passages } = doomedDocument("w1");
    const questions: (() => Promise<unknown>)[] = [
      () => store.termStats("chunk", ["w1"]),
      () => store.candidates("chunk", { any: ["w1"] }, {}),
      () => store.nearest("chunk", NEAR, { filter: {}, count: 5 }),
      () => store.similarities("chunk", NEAR, [1]),
      () => store.passages("chunk", [1]),
      () => store.range("chunk", { sourceId: "a", ...WINDOW }),
      () => store.documents({}, WINDOW),
      () => store.document("a"),
      () => store.documentByUri("file:///a"),
      () => store.textOf("a"),
      () => store.whole("a"),
      () => store.languages(),
      () => store.embedder(),
      () => store.check(),
      () => store.replaceDocument(document, text, passages),
      () => store.deleteDocument("a"),
    ];
    for (const ask of questions) await expect(ask(), String(ask)).rejects.toMatchObject(unavailable);
  });
});

test("returns undefined for a document that Weaviate does not have", async () => {
  const store = await opened((_, response) => response.writeHead(404).end());
  expect(await store.textOf("a")).toBeUndefined();
  expect(await store.whole("a")).toBeUndefined();
});

test("a write fails if Weaviate does not confirm it", async () => {
  const store = await opened(async (request, response) => {
    const body = await bodyOf(request);
    response.end(request.url === "/v1/batch/objects" ? "[]" : lists(body, []));
  });
  const { document, text, passages } = doomedDocument("w1");
  await expect(store.replaceDocument(document, text, passages)).rejects.toMatchObject(unavailable);
});

describe("the key", () => {
  test.each([
    ["of the variable is sent as it is", "", "a%2Fb%", "Bearer a%2Fb%"],
    ["of the address is sent as it was meant", ":a%2Fb%25@", "", "Bearer a/b%"],
    ["of the address holds where the variable is empty", ":a%zz@", "", "Bearer a%zz"],
  ])("%s", async (_, before, variable, expected) => {
    let sent: string | undefined;
    const store = await opened((request, response) => {
      sent = request.headers.authorization;
      response.end('{"version": "1"}');
    });
    await store.describe();
    expect(sent).toBeUndefined();
    const { port } = server!.address() as AddressInfo;
    vi.stubEnv("WEAVIATE_API_KEY", variable);
    const withKey = await openStore(parseStore(`weaviate+http://${before}127.0.0.1:${port}`));
    await withKey.describe();
    expect(sent).toBe(expected);
  });
});

describe("deletion of a document", () => {
  const listed = { sourceId: "a", key: 1, chunk: { passages: 1, length: 1 }, summary: { passages: 0, length: 0 } };
  const deleting = (results: string) =>
    opened(async (request, response) => {
      const query = await bodyOf(request);
      if (request.method === "DELETE") response.end(request.url === "/v1/batch/objects" ? results : "");
      else if (request.url === "/v1/graphql")
        response.end(lists(query, query.includes("MainDocument") ? [{ listed: JSON.stringify(listed) }] : []));
      else response.end("[{}]");
    });

  test("deletion succeeds once the server reports the passages as deleted", async () => {
    const store = await deleting('{"results": {"matches": 1, "successful": 1, "failed": 0}}');
    expect(await store.deleteDocument("a")).toEqual({ chunks: 1, summaries: 0 });
  });

  test.each([
    ["nothing", ""],
    ["something else", "{}"],
    ["that some stay", '{"results": {"matches": 1, "successful": 0, "failed": 1}}'],
    ["the same for ever", '{"results": {"matches": 10000, "successful": 0, "failed": 0}}'],
  ])("deletion fails if the server answers %s", async (_, results) => {
    const store = await deleting(results);
    await expect(store.deleteDocument("a")).rejects.toMatchObject(unavailable);
  });
});

test("omits a document that is removed during a listing from both the list and the total", async () => {
  let isThere = true;
  const listed = (sourceId: string) => {
    const sizes = { passages: 0, length: 0 };
    const keys = { authorKey: "", workKey: "", key: sourceId === "a" ? 1 : 2 };
    return JSON.stringify({ sourceId, ...keys, created: "", updated: "", chunk: sizes, summary: sizes });
  };
  const [first, second] = ["a", "b"].map((sourceId) => ({ sourceId, listed: listed(sourceId) }));
  const idOfSecond = (url: string) => url.endsWith(`/${idOfText("b")}`);
  const store = await opened(async (request, response) => {
    if (request.url === "/v1/graphql") {
      const query = await bodyOf(request);
      const all = isThere ? [first, second] : [first];
      return response.end(lists(query, query.includes("MainDocument") ? all : []));
    }
    if (idOfSecond(request.url!)) {
      isThere = false;
      return response.writeHead(404).end();
    }
    return response.end(
      JSON.stringify({ properties: { listed: first!.listed, fields: '{"sourceId":"a"}', body: "" } }),
    );
  });
  expect(await store.documents({}, WINDOW)).toMatchObject({ documents: [{ sourceId: "a" }], total: 1 });
});

test("returns all passages of a document with a word, also if they exceed one answer", async () => {
  const COUNT = 12_000;
  const listed = { sourceId: "a", key: 5, chunk: { passages: COUNT, length: 1 }, summary: { passages: 0, length: 0 } };
  const rows = Array.from({ length: COUNT }, (_, ordinal) => ({
    sourceId: "a",
    documentKey: 5,
    ordinal,
    terms: "w",
    length: 1,
  }));
  const store = await opened(async (request, response) => {
    const query = await bodyOf(request);
    if (query.includes("MainMeta")) return response.end(lists(query, []));
    if (query.includes("MainDocument")) return response.end(lists(query, [{ listed: JSON.stringify(listed) }]));
    const within = (path: "documentKey" | "ordinal", value: number) =>
      value >= boundIn(query, path, "GreaterThanEqual", 0) && value < boundIn(query, path, "LessThan", Infinity);
    const fit = rows.filter(
      ({ documentKey, ordinal }) => within("documentKey", documentKey) && within("ordinal", ordinal),
    );
    return response.end(lists(query, fit.slice(0, 10_000)));
  });
  const found = await store.candidates("chunk", { any: ["w"] }, {});
  expect(new Set(found.map(({ ordinal }) => ordinal)).size).toBe(COUNT);
  expect(found).toHaveLength(COUNT);
});

test("a document that the server rejects partway is removed from all classes", async () => {
  const removed: string[] = [];
  let batches = 0;
  const store = await opened(async (request, response) => {
    const body = await bodyOf(request);
    if (request.url === "/v1/graphql") return response.end(lists(body, []));
    if (request.method === "DELETE") {
      removed.push(/"class":"(\w+)"/.exec(body)![1]!);
      return response.end('{"results": {"matches": 1, "successful": 1, "failed": 0}}');
    }
    const { objects } = JSON.parse(body) as { readonly objects: readonly { readonly class: string }[] };
    const isSecond = objects[0]!.class === "MainChunk" && (batches += 1) === 2;
    const errors = { error: [{ message: "no more of these" }] };
    return response.end(JSON.stringify(objects.map(() => ({ result: isSecond ? { errors } : {} }))));
  });
  const { document, text, passages } = doomedDocument("w1", 250);
  await expect(store.replaceDocument(document, text, passages)).rejects.toThrow("no more of these");
  expect(removed).toEqual(["MainChunk", "MainSummary"]);
});

describe("a document replaced while it is read", () => {
  test("returns text and passages of the new version", async () => {
    const readings = ["old", "new"];
    const store = await opened((request, response) => answerReading(request, response, readings));
    expect(await store.whole("a")).toMatchObject({ text: "new", passages: { chunks: [{ text: "new" }] } });
    expect(readings).toEqual([]);
  });

  test("fails if its passages are missing, and returns no part of it", async () => {
    const store = await opened((request, response) => answerReading(request, response, []));
    await expect(store.whole("a")).rejects.toMatchObject(unavailable);
  });
});

/**
 * Returns the document's object with the next of `readings`, then always with the last. Passages exist for the newest
 * version only.
 */
async function answerReading(request: IncomingMessage, response: ServerResponse, readings: string[]): Promise<void> {
  if (request.url!.startsWith("/v1/objects/")) {
    const word = readings.shift() ?? "old";
    const sizes = { passages: 1, length: 1 };
    const listed = { sourceId: "a", key: word === "new" ? 2 : 1, chunk: sizes, summary: { passages: 0, length: 0 } };
    const properties = { listed: JSON.stringify(listed), fields: '{"sourceId":"a"}', body: word };
    response.end(JSON.stringify({ properties }));
    return;
  }
  const query = await bodyOf(request);
  const fields = JSON.stringify({ ordinal: 0, level: 0, section: [], from: 0, to: 3, text: "new", concepts: [] });
  const passage = { sourceId: "a", documentKey: 2, ordinal: 0, terms: "new", length: 1, fields, _additional: {} };
  response.end(lists(query, query.includes("valueInt:2") ? [passage] : []));
}

/** Builds an answer of GraphQL: a list under the name of the requested class. */
function lists(query: string, found: readonly unknown[]): string {
  const name = /Get \{ (\w+)/.exec(query)?.[1] ?? "";
  return JSON.stringify({ data: { Get: { [name]: found } } });
}

/** Returns the limit of a property in a query. */
function boundIn(query: string, path: string, operator: string, otherwise: number): number {
  const found = new RegExp(`path:\\[\\\\?"${path}\\\\?"\\],operator:${operator},valueInt:(\\d+)`).exec(query);
  return found ? Number(found[1]) : otherwise;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += String(piece);
  return body;
}

function cutShort(response: ServerResponse): void {
  response.writeHead(200, { "content-length": "1000" });
  response.write('{"data": ', () => response.socket?.destroy());
}

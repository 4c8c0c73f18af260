import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { openStore, parseStore } from "../../../servers/library/store/open-store.ts";
import type { LibraryStore } from "../../../servers/library/store/store.ts";
import { doomedDocument } from "./doomed-document.ts";

const unavailable = { code: "STORE_UNAVAILABLE", failure: { kind: "unavailable" } };
const CLASSES = JSON.stringify({ description: "A document library of Toolyard, version 1" });
const NEAR = new Float32Array([1, 0]);
const WINDOW = { limit: 5, offset: 0 };

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A library on a server that knows its classes, and gives `answer` to everything else. */
async function opened(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<LibraryStore> {
  server = createServer((request, response) =>
    request.url!.startsWith("/v1/schema/") ? response.end(CLASSES) : answer(request, response),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return openStore(parseStore(`weaviate+http://127.0.0.1:${port}`));
}

describe("a Weaviate that fails in its own way is an error for every question, and never an empty list", () => {
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

test("a document that a Weaviate does not have is undefined, and no error", async () => {
  const store = await opened((_, response) => response.writeHead(404).end());
  expect(await store.textOf("a")).toBeUndefined();
  expect(await store.whole("a")).toBeUndefined();
});

test("what a Weaviate does not say that it took was not written", async () => {
  const store = await opened(async (request, response) => {
    const body = await bodyOf(request);
    response.end(request.url === "/v1/batch/objects" ? "[]" : lists(body, []));
  });
  const { document, text, passages } = doomedDocument("w1");
  await expect(store.replaceDocument(document, text, passages)).rejects.toMatchObject(unavailable);
});

describe("a document that is replaced while it is read whole", () => {
  test("comes as it is now, text and passages of one reading", async () => {
    const readings = ["old", "new"];
    const store = await opened((request, response) => answerReading(request, response, readings));
    expect(await store.whole("a")).toMatchObject({ text: "new", passages: { chunks: [{ text: "new" }] } });
    expect(readings).toEqual([]);
  });

  test("is an error where its passages stay away, and never a part of it", async () => {
    const store = await opened((request, response) => answerReading(request, response, []));
    await expect(store.whole("a")).rejects.toMatchObject(unavailable);
  });
});

/** Gives the document's object once for each reading, the last one for ever; passages are there of the newest only. */
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

/** What GraphQL answers: a list under the name of the class that was asked for. */
function lists(query: string, found: readonly unknown[]): string {
  const name = /Get \{ (\w+)/.exec(query)?.[1] ?? "";
  return JSON.stringify({ data: { Get: { [name]: found } } });
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

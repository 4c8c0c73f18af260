import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settingsOf } from "../settings.ts";
import { openHttpEmbedder, type HttpEmbedder } from "./http-embedder.ts";

let server: Server;
let asked: { readonly input: readonly string[]; readonly key: string | undefined; readonly path: string | undefined }[];
let answer: (input: readonly string[]) => unknown;

beforeEach(async () => {
  asked = [];
  answer = (input) => ({ data: input.map((text) => ({ embedding: [text.length, 0, 3] })) });
  server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string[] };
    asked.push({ input, key: request.headers.authorization, path: request.url });
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer(input)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterEach(() => new Promise((done) => server.close(done)));

const open = (model: string, key?: string): HttpEmbedder =>
  openHttpEmbedder({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model,
    ...(key !== undefined && { key }),
  });

describe("openHttpEmbedder", () => {
  test("returns vectors of length 1, and no calibration", async () => {
    await using embedder = open("bge-m3", "secret");
    const [vector] = await embedder.embed(["four"], "passage");
    expect(Array.from(vector!, (number) => Math.round(number * 100) / 100)).toEqual([0.8, 0, 0.6]);
    expect([embedder.calibration, embedder.id]).toEqual([undefined, expect.stringMatching(/bge-m3$/)]);
    expect(asked.at(-1)).toEqual({ input: ["four"], key: "Bearer secret", path: "/v1/embeddings" });
  });

  test.each([
    ["intfloat/multilingual-e5-small", "query: a", "passage: a"],
    ["e5-large", "query: a", "passage: a"],
    ["nomic-embed-text", "search_query: a", "search_document: a"],
    ["text-embedding-3-small", "a", "a"],
    ["bge-m3", "a", "a"],
  ])("sends the prefixes that the model %s requires", async (model, query, passage) => {
    await using embedder = open(model);
    await embedder.embed(["a"], "query");
    await embedder.embed(["a"], "passage");
    expect(asked.slice(-2).map(({ input }) => input)).toEqual([[query], [passage]]);
  });

  test("sends at most 64 texts per request", async () => {
    await using embedder = open("bge-m3");
    expect(
      await embedder.embed(
        Array.from({ length: 130 }, () => "a"),
        "passage",
      ),
    ).toHaveLength(130);
    expect(asked.map(({ input }) => input.length)).toEqual([64, 64, 2]);
  });

  test.each<[string, unknown]>([
    ["no vectors", {}],
    ["too few vectors", { data: [] }],
    ["vectors that are none", { data: [{ embedding: ["a"] }] }],
    ["empty vectors", { data: [{ embedding: [] }] }],
    ["null", null],
  ])("rejects %s", async (_case, wrong) => {
    answer = () => wrong;
    await using embedder = open("bge-m3");
    await expect(embedder.embed(["a"], "query")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

test("requires the address and the model together in the settings", () => {
  expect(() => settingsOf({ LIBRARY_EMBED_URL: "http://127.0.0.1:1/v1" })).toThrow("LIBRARY_EMBED_MODEL");
  expect(() => settingsOf({ LIBRARY_EMBED_MODEL: "bge-m3" })).toThrow("LIBRARY_EMBED_URL");
  const environment = { LIBRARY_EMBED_URL: "http://127.0.0.1:1/v1", LIBRARY_EMBED_MODEL: "bge-m3" };
  expect(settingsOf(environment).embedder).toEqual({ url: "http://127.0.0.1:1/v1", model: "bge-m3" });
  expect(settingsOf({}).embedder).toBeUndefined();
  const headers = { ...environment, LIBRARY_EMBED_HEADERS: '{"x-team":"history"}' };
  expect(settingsOf(headers).embedder).toMatchObject({ headers: { "x-team": "history" } });
  for (const wrong of ["secret", "[]", '{"a":1}', "null", '"a"'])
    expect(() => settingsOf({ ...environment, LIBRARY_EMBED_HEADERS: wrong }), wrong).toThrow("LIBRARY_EMBED_HEADERS");
});

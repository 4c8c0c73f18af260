// `[library] embedding`: hub and commands create vectors with one embedder, the model in `models.embedding`.
import { createServer, type Server } from "node:http";
import { mkdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { foreignFile } from "../../toolyard/src/config/accepted-files.ts";
import { CONFIG_SCHEMA } from "../../toolyard/src/hub/schema.ts";
import { Desk } from "../../../test/cli/harness.ts";
import { CLEAR_IDEAS } from "./books.ts";

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly team: unknown;
}

let server: Server;
let requests: EmbeddingRequest[];

beforeEach(async () => {
  requests = [];
  server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { model, input } = JSON.parse(Buffer.concat(pieces).toString()) as EmbeddingRequest;
    requests.push({ model, input, team: request.headers["x-team"] });
    const data = input.map((text) => ({ embedding: [text.length % 7, 1, /nominalism/i.test(text) ? 5 : 0] }));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise((done) => server.close(done));
});

const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

function config(library: string, embedding = 'embedding = "mine/bge-m3"'): string {
  return `[services]
library = true
[library]
${library}
[models]
${embedding}
[models.providers.mine]
base_url = "${address()}"
headers = { x-team = "history" }
`;
}

const createDesk = (toml: string): Promise<Desk> => Desk.create({ "clear.md": CLEAR_IDEAS, "toolyard.toml": toml });

describe('embedding = "models"', () => {
  test("commands and the hub create vectors with the model, and each accepts vectors of the other", async () => {
    await using desk = await createDesk(config('embedding = "models"'));
    expect(await desk.run(["library", "add", "clear.md"])).toMatchObject({ code: 0, stderr: "" });
    expect(requests[0]).toMatchObject({ model: "bge-m3", team: "history" });
    expect(requests[0]!.input.join(" ")).toContain("Nominalism");
    const asked = await desk.run(["call", "search_chunks", "query=what is nominalism?", "--json"]);
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining("Nominalism denies")]);
    expect(requests.at(-1)!.input).toEqual(["what is nominalism?"]);
    const { code, stdout } = await desk.run(["library", "search", "nominalism", "--json"]);
    expect([code, requests.at(-1)!.input]).toEqual([0, ["nominalism"]]);
    // Without a measured calibration no probability is known.
    expect(stdout).not.toContain("similarity");
    const before = requests.length;
    expect((await desk.run(["library", "reindex"])).code).toBe(0);
    expect(requests.slice(before).flatMap(({ input }) => input).length).toBeGreaterThan(1);
  });

  test("reports vectors of another embedder, and reindex creates them again", async () => {
    await using desk = await createDesk(config(""));
    expect((await desk.run(["library", "add", "clear.md"])).code).toBe(0);
    expect(requests).toEqual([]);
    await desk.write("toolyard.toml", config('embedding = "models"'));
    expect(await desk.run(["library", "search", "truth"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("toolyard library reindex"),
    });
    expect((await desk.run(["library", "reindex"])).code).toBe(0);
    expect((await desk.run(["library", "search", "nominalism"])).code).toBe(0);
  });

  test("lists documents and finds words without the server, and names the settings", async () => {
    await using desk = await createDesk(config('embedding = "models"'));
    expect((await desk.run(["library", "add", "clear.md"])).code).toBe(0);
    const gone = config('embedding = "models"').replace(/:\d+\/v1/, ":1/v1");
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    const note = /Only words were searched.*models\.embedding/s;
    const found = await desk.run(["library", "search", "nominalism"]);
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining("Nominalism")]);
    expect(found.stdout + found.stderr).toMatch(note);
    const { results, note: reason } = JSON.parse(
      (await desk.run(["library", "search", "nominalism", "--json"])).stdout,
    );
    expect([results.length > 0, reason]).toEqual([true, expect.stringMatching(note)]);
    const called = await desk.run(["call", "search_chunks", "query=what is nominalism?", "--json"]);
    expect([called.code, called.stdout]).toEqual([
      0,
      expect.stringMatching(/Nominalism denies.*Only words|Only words.*Nominalism denies/s),
    ]);
    await desk.write("toolyard.toml", gone);
    expect(await desk.run(["library", "list"])).toMatchObject({ code: 0, stdout: expect.stringContaining("clear") });
    await desk.write("new.md", CLEAR_IDEAS.replace("Ideas", "Other Ideas"));
    expect((await desk.run(["library", "reindex"])).stderr).toContain("models.embedding");
  });

  test.each([
    ["no model", "", "`models.embedding` is not set"],
    ["a provider without embedding models", 'embedding = "anthropic/claude"', "no embedding models"],
    ["a vendor without its key", 'embedding = "openai/text-embedding-3-small"', "OPENAI_API_KEY"],
  ])("refuses %s, and names the setting or variable to set", async (_case, embedding, message) => {
    await using desk = await createDesk(config('embedding = "models"', embedding));
    const { code, stderr } = await desk.run(["library", "add", "clear.md"]);
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining(message)]);
    expect(code).not.toBe(0);
    expect((await desk.run(["library", "list"])).stdout).toBe("");
  });
});

test('embedding = "table" uses the table even if environment variables name a server', async () => {
  await using desk = await createDesk(config('embedding = "table"'));
  const env = { LIBRARY_EMBED_URL: address(), LIBRARY_EMBED_MODEL: "bge-m3" };
  expect((await desk.run(["library", "add", "clear.md"], { env })).code).toBe(0);
  expect((await desk.run(["call", "search_chunks", "query=nominalism"], { env })).code).toBe(0);
  expect(requests).toEqual([]);
});

describe("a configuration that another user may have written", () => {
  test("shows the model that receives the documents, and asks again after the model changed", async () => {
    await using desk = await createDesk(config('embedding = "models"'));
    await mkdir(desk.path(".git"));
    const file = desk.path("toolyard.toml");
    const first = await foreignFile(file, CONFIG_SCHEMA);
    const line = "[library] reads files, and stores or sends their contents: mine/bge-m3";
    expect(first!.starts).toContain(line);
    await desk.write("toolyard.toml", config('embedding = "models"', 'embedding = "openai/bge-m3"'));
    const changed = await foreignFile(file, CONFIG_SCHEMA);
    expect(changed!.starts).toContain(line.replace("mine/", "openai/"));
    expect(changed!.digest).not.toBe(first!.digest);
  });

  test("sends nothing before it is accepted", async () => {
    await using desk = await createDesk(config('embedding = "models"'));
    await mkdir(desk.path(".git"));
    const { code, stderr } = await desk.run(["library", "add", "clear.md"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("mine/bge-m3")]);
    expect(requests).toEqual([]);
    expect((await desk.run(["library", "add", "clear.md", "--yes"])).code).toBe(0);
    expect(requests).not.toEqual([]);
  });
});

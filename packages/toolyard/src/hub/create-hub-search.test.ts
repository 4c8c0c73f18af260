import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sendJson, startServer, type RunningServer } from "../../../../test/fixtures/http-servers.ts";
import { dataFolder } from "../core/data-folder.ts";
import { SILENT_LOGGER } from "../core/ports/ports.ts";
import type { HubConfig } from "./schema.ts";
import { createHub } from "./create-hub.ts";
import type { Toolyard } from "../kernel/toolyard.ts";

let folder: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "toolyard-likeness-"))));
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a fake of OpenAI's embeddings API. Its vectors only distinguish texts about time from other texts. */
async function serveEmbeddings(status = 200): Promise<RunningServer & { readonly inputs: string[] }> {
  const inputs: string[] = [];
  const server = await startServer(
    (request, response) => {
      let text = "";
      request
        .on("data", (chunk: Buffer) => (text += chunk.toString()))
        .on("end", () => {
          const { input, model } = JSON.parse(text) as { input: string[]; model: string };
          inputs.push(...input);
          if (status !== 200)
            return sendJson(response, status, {
              error: { message: "Down for today.", type: "server_error", param: null, code: null },
            });
          const data = input.map((one, index) => ({
            object: "embedding",
            index,
            embedding: /o'clock|uptime/i.test(one) ? [1, 0] : [0, 1],
          }));
          sendJson(response, 200, { object: "list", data, model, usage: { prompt_tokens: 1, total_tokens: 1 } });
        });
    },
    { path: "/v1" },
  );
  opened.push(server);
  return Object.assign(server, { inputs });
}

async function hubWith(server: RunningServer, extra: Record<string, unknown> = {}): Promise<Toolyard> {
  const models = {
    embedding: "mine/likeness",
    providers: { mine: { base_url: server.url, api_key: "sk-very-secret" } },
  };
  const hub = await createHub({
    settings: { builtin: { execute_code: false }, models, search: { embedding_wait_ms: 60_000 }, ...extra },
    variables: { TOOLYARD_HOME: folder },
    logger: SILENT_LOGGER,
  });
  opened.push(hub);
  return hub;
}

test("finds tools by meaning with an OpenAI-compatible endpoint, and keeps the vectors on disk", async () => {
  const server = await serveEmbeddings();
  const hub = await hubWith(server);
  await expect
    .poll(async () => (await hub.search("what o'clock is it since then")).hits[0]?.name)
    .toBe("meta.get_server_status");
  expect(server.seen[0]).toMatchObject({ url: "/v1/embeddings", headers: { authorization: "Bearer sk-very-secret" } });
  await expect
    .poll(() => readdirSync(join(dataFolder({ TOOLYARD_HOME: folder }), "embeddings")))
    .toEqual([expect.stringMatching(/\.bin$/)]);
});

test("an endpoint that fails does not affect the search by words", async () => {
  const server = await serveEmbeddings(500);
  const hub = await hubWith(server);
  expect((await hub.search("server status")).hits[0]?.name).toBe("meta.get_server_status");
  await expect.poll(() => server.inputs.length).toBeGreaterThan(0);
  expect((await hub.search("server status")).hits[0]?.name).toBe("meta.get_server_status");
});

test("refuses an unknown model when the configuration is read", async () => {
  await expect(
    createHub({
      settings: { models: { embedding: "nobody/knows" } },
      variables: { TOOLYARD_HOME: folder },
      logger: SILENT_LOGGER,
    }),
  ).rejects.toThrow(/nobody/);
});

const FOUND_BY_MEANING = "what o'clock is it since then";

async function plainHub(search: NonNullable<HubConfig["search"]>): Promise<Toolyard> {
  const hub = await createHub({
    settings: { builtin: { execute_code: false }, search },
    registerTools: (program) => program.registerTool("post.send_email", () => 1, {}, "Sends an email."),
    variables: { TOOLYARD_HOME: folder },
    logger: SILENT_LOGGER,
  });
  opened.push(hub);
  return hub;
}

test.each<[NonNullable<HubConfig["search"]>, string[]]>([
  [{}, ["post.send_email"]],
  [{ mode: "auto" }, ["post.send_email"]],
  [{ mode: "table" }, ["post.send_email"]],
  [{ mode: "words" }, []],
])("with [search] %j and no model, a query without a tool's words finds %j", async (search, found) => {
  const hub = await plainHub({ ...search, embedding_wait_ms: 60_000 });
  const { hits } = await hub.search("du courrier postal", 1);
  expect(hits.map((hit) => hit.name)).toEqual(found);
});

test("with mode = table, sends no request to the configured model", async () => {
  const server = await serveEmbeddings();
  const hub = await hubWith(server, { search: { mode: "table", embedding_wait_ms: 60_000 } });
  await hub.search(FOUND_BY_MEANING);
  expect(server.inputs).toEqual([]);
});

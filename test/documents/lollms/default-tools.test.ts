import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LocalMCPBinding, type LocalMCPOptions } from "../../../packages/toolyard/src/bindings.ts";
import { createHub, type HubConfig, type LibraryHub, type Outcome } from "../../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { startServer, sendJson, type RunningServer } from "../../fixtures/http-servers.ts";
import { SEARXNG_JSON } from "../../fixtures/web-search/pages.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

const logger = SILENT_LOGGER;
/** One red dot. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);

const NAMES = ["file_writer", "generate_image_from_prompt", "internet_search", "python_interpreter"];

let folder: ToolFolder;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

function kept<T extends { close(): Promise<void> }>(one: T): T {
  opened.push(one);
  return one;
}

const roots = (): string[] => [`${folder.path}/files`];

function binding(options: LocalMCPOptions = {}): LocalMCPBinding {
  return kept(new LocalMCPBinding({ logger, default_tools: { file_roots: roots() }, ...options }));
}

async function hub(settings: HubConfig = {}): Promise<LibraryHub> {
  return kept(
    await createHub({
      logger,
      settings: { default_tools: { enable: ["all"], file_roots: roots() }, ...settings },
      variables: { TOOLYARD_HOME: `${folder.path}/home` },
    }),
  );
}

const file = (path: string): string => readFileSync(`${folder.path}/files/${path}`, "utf8");

/** Returns the listed tools without the hub's own. */
async function listed(one: LibraryHub): Promise<unknown[]> {
  return (await one.list())
    .map(({ name }) => name)
    .filter((name) => name !== "execute_code")
    .toSorted();
}

describe("the bundled tools", () => {
  test.each([{}, { tools_folder_path: null }, { toolsFolderPath: null }])(
    "L31: a local binding without a folder (%j) offers only the bundled tools",
    async (options) => {
      const tools = await binding(options).discoverTools();
      expect(tools.map(({ name }) => name).toSorted()).toEqual(NAMES);
      expect(
        tools.every(
          ({ description, input_schema: input, output_schema: output }) =>
            description !== "" && input["type"] === "object" && output?.["type"] === "object",
        ),
      ).toBe(true);
    },
  );

  test("L31: with a folder it offers none of the bundled tools", async () => {
    folder.write("tools/own/own.mjs", "export const execute = () => 1;");
    folder.write(
      "tools/own/own.mcp.json",
      JSON.stringify({ name: "own", description: "Own.", input_schema: { type: "object" } }),
    );
    const local = binding({ tools_folder_path: `${folder.path}/tools` });
    expect((await local.discoverTools()).map(({ name }) => name)).toEqual(["own"]);
    expect(await local.executeTool("file_writer", { file_path: "x", content: "x" })).toEqual({
      error: "Tool not found",
      status_code: 404,
    });
  });

  test("a hub offers only the bundled tools in its configuration", async () => {
    expect(await listed(await hub({ default_tools: {} }))).toEqual([]);
    expect(await listed(await hub({ default_tools: { enable: ["file_writer"] } }))).toEqual(["file_writer"]);
    expect(await listed(await hub())).toEqual(NAMES);
  });

  test("a user's tool overrides a bundled tool of the same name, which stays callable with a prefix", async () => {
    folder.write("own/file_writer/file_writer.mjs", 'export const execute = () => "mine";');
    folder.write(
      "own/file_writer/file_writer.mcp.json",
      JSON.stringify({ name: "file_writer", description: "Own.", input_schema: { type: "object" } }),
    );
    const one = await hub({
      default_tools: { enable: ["file_writer"], file_roots: roots() },
      folders: { tools_path: `${folder.path}/own` },
    });
    expect(await listed(one)).toEqual(["default_tools__file_writer", "file_writer"]);
    expect(await one.call("file_writer", { file_path: "x.txt", content: "x" })).toMatchObject({
      ok: true,
      result: { content: [{ text: "mine" }] },
    });
    expect(await one.call("default_tools__file_writer", { file_path: "x.txt", content: "x" })).toMatchObject({
      ok: true,
    });
    expect(file("x.txt")).toBe("x");
  });

  test("search finds each default tool by what it does", async () => {
    const one = await hub();
    const best = await Promise.all(
      ["save text to a file", "search the web", "draw a picture", "run python"].map(
        async (words) => (await one.search(words)).hits[0]?.name,
      ),
    );
    expect(best).toEqual(["file_writer", "internet_search", "generate_image_from_prompt", "python_interpreter"]);
  });

  test.each<[HubConfig, RegExp]>([
    [{ default_tools: { enable: ["teleport"] } } as unknown as HubConfig, /teleport/],
    [{ default_tools: { file_roots: [] } }, /file_roots/],
    [{ default_tools: { max_file_size: "5GB" } }, /max_file_size/],
    [{ default_tools: { image_timeout: 0 } }, /image_timeout/],
    [{ web_search: { backend: "brave" } }, /api_key/],
    [{ models: { image: "nobody/draws" } }, /nobody/],
  ])("refuses settings such as %j", async (settings, message) => {
    await expect(hub(settings)).rejects.toThrow(message);
  });
});

describe("file_writer", () => {
  test("L35: overwrites by default, and appends if requested", async () => {
    const local = binding();
    const path = `${folder.path}/files/notes/a.txt`;
    expect(await local.executeTool("file_writer", { file_path: "notes/a.txt", content: "one\n" })).toEqual({
      output: { status: "success", message: "Wrote 4 B to notes/a.txt.", file_path: path },
      status_code: 200,
    });
    expect(
      await local.executeTool("file_writer", { file_path: "notes/a.txt", content: "zwö\n", mode: "append" }),
    ).toMatchObject({ output: { status: "success", message: "Appended 5 B to notes/a.txt." } });
    expect(file("notes/a.txt")).toBe("one\nzwö\n");
    await local.executeTool("file_writer", { file_path: "notes/a.txt", content: "", mode: "overwrite" });
    expect(file("notes/a.txt")).toBe("");
  });

  test("L35, S6: refuses a path outside its folders with the specified members, and writes nothing", async () => {
    const answer = await binding().executeTool("file_writer", { file_path: "../outside.txt", content: "x" });
    expect(answer).toMatchObject({
      status_code: 403,
      error: expect.stringContaining("outside") as string,
      output: { status: "error", message: expect.stringContaining("outside") as string, file_path: "../outside.txt" },
    });
    expect(JSON.stringify(answer)).not.toContain(folder.path);
    expect(existsSync(`${folder.path}/outside.txt`)).toBe(false);
  });

  test("L35: a failure on MCP is a result with isError", async () => {
    const outcome = await (await hub()).call("file_writer", { file_path: "../x", content: "x" });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      result: { isError: true, structuredContent: { status: "error", file_path: "../x" } },
    });
  });

  test.each([
    { file_path: "x" },
    { content: "x" },
    { file_path: "x", content: "x", mode: "delete" },
    { file_path: 1, content: "x" },
  ])("L35: refuses arguments such as %j", async (args) => {
    expect(await binding().executeTool("file_writer", args)).toMatchObject({ status_code: 400 });
  });

  test("without a root, writes into `files/` next to the configuration, and not into a folder of tools", async () => {
    folder.write("toolyard.toml", '[default_tools]\nenable = ["file_writer"]\n');
    const one = kept(
      await createHub({
        logger,
        config: `${folder.path}/toolyard.toml`,
        variables: { TOOLYARD_HOME: `${folder.path}/home` },
      }),
    );
    expect(await one.call("file_writer", { file_path: "x.txt", content: "x" })).toMatchObject({ ok: true });
    expect(await one.call("file_writer", { file_path: "../toolyard.toml", content: "" })).toMatchObject({ ok: false });
    expect(file("x.txt")).toBe("x");
  });
});

async function searchServer(results: object = SEARXNG_JSON, status = 200): Promise<RunningServer> {
  return kept(await startServer((_request, response) => sendJson(response, status, results), { path: "" }));
}

describe("internet_search", () => {
  const many = {
    ...SEARXNG_JSON,
    results: Array.from({ length: 30 }, (_, at) => ({
      url: `https://example.com/${at}`,
      title: `Page ${at}`,
      content: "Text.",
    })),
  };

  test("L37: returns title, link and snippet, five by default", async () => {
    const server = await searchServer(many);
    const local = binding({ web_search: { backend: "searxng", base_url: server.url } });
    const counts = await Promise.all(
      [{}, { num_results: 2 }, { num_results: 100 }].map(async (more, at) => {
        const { output } = (await local.executeTool("internet_search", { query: `otters ${at}`, ...more })) as {
          output: { search_results: object[] };
        };
        return output.search_results.length;
      }),
    );
    expect(counts).toEqual([5, 2, 20]);
    expect(await local.executeTool("internet_search", { query: "otters 1", num_results: 1 })).toEqual({
      output: { search_results: [{ title: "Page 0", link: "https://example.com/0", snippet: "Text." }] },
      status_code: 200,
    });
  });

  test.each([
    [20, undefined],
    [30, "30 results were requested, but one search returns at most 20. Use a narrower query."],
  ])("L37: reports that %i requested results are above the limit", async (asked, note) => {
    const server = await searchServer(many);
    const local = binding({ web_search: { backend: "searxng", base_url: server.url } });
    const { output } = (await local.executeTool("internet_search", { query: "herons", num_results: asked })) as {
      output: { search_results: object[]; note?: string };
    };
    expect([output.search_results.length, output.note]).toEqual([20, note]);
  });

  test.each([
    [500, {}],
    [429, {}],
    [403, {}],
    [200, { results: "none" }],
  ])("L37, C43: returns a result with `error` if the search service responds %i %j", async (status, value) => {
    const server = await searchServer(value, status);
    const outcome = await (
      await hub({ web_search: { backend: "searxng", base_url: server.url } })
    ).call("internet_search", { query: "otters" });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      result: {
        isError: true,
        structuredContent: { search_results: [], error: expect.stringContaining("SearXNG") as string },
      },
    });
  });

  test("L37: returns a result with `error` if the service is missing, also on a binding", async () => {
    const server = await searchServer();
    await server.close();
    const answer = await binding({ web_search: { backend: "searxng", base_url: server.url } }).executeTool(
      "internet_search",
      { query: "otters" },
    );
    expect(answer).toMatchObject({
      error: expect.stringContaining("SearXNG") as string,
      output: { search_results: [], error: expect.any(String) as string },
    });
  });

  test.each([{}, { query: "" }, { query: "x", num_results: 0 }, { query: "x", num_results: 1.5 }])(
    "L37: refuses arguments such as %j",
    async (args) => {
      expect(await binding().executeTool("internet_search", args)).toMatchObject({ status_code: 400 });
    },
  );

  test("respects a caller's time limit", async () => {
    const server = kept(await startServer(() => {}, { path: "" }));
    const outcome: Outcome = await (
      await hub({ web_search: { backend: "searxng", base_url: server.url } })
    ).call("internet_search", { query: "otters" }, { timeoutMs: 200 });
    expect(outcome).toMatchObject({ ok: false, kind: "timeout" });
  });
});

describe("generate_image_from_prompt", () => {
  const image = "generate_image_from_prompt";

  test("L36: the client's binding generates the image, and the file has a relative path and a URL", async () => {
    const asked: object[] = [];
    const tti = { generateImage: (request: object) => (asked.push(request), Promise.resolve(PNG)) };
    const answer = await binding().executeTool(
      image,
      {
        prompt: "an otter",
        negative_prompt: "people",
        width: 64,
        height: 32,
        output_filename_suggestion: "../My otter.jpeg",
      },
      { lollms_client_instance: { tti } },
    );
    expect(answer).toEqual({
      output: {
        status: "success",
        message: expect.stringContaining("image/png") as string,
        image_path: "My-otter.png",
        image_url: expect.stringMatching(/^file:\/\/\/.*\/files\/My-otter\.png$/) as string,
      },
      status_code: 200,
    });
    expect(readFileSync(fileURLToPath((answer as { output: { image_url: string } }).output.image_url))).toEqual(PNG);
    expect(asked).toMatchObject([
      {
        prompt: "an otter",
        negative_prompt: "people",
        width: 64,
        height: 32,
        signal: expect.any(AbortSignal) as AbortSignal,
      },
    ]);
  });

  test("L36: accepts the snake_case spelling, and names a second image differently", async () => {
    const local = binding();
    const options = { lollmsClientInstance: { tti: { generate_image: () => ({ data: new Uint8Array(PNG) }) } } };
    const paths = [];
    for (let round = 0; round < 2; round += 1)
      paths.push(
        (
          (await local.executeTool(image, { prompt: "An otter, at sea!" }, options)) as {
            output: { image_path: string };
          }
        ).output.image_path,
      );
    expect(paths).toEqual(["An-otter-at-sea.png", "An-otter-at-sea-2.png"]);
  });

  test("L34, L36: a custom script also generates with the client, and gets an error if there is none", async () => {
    folder.write(
      "tools/paint/paint.mjs",
      "export const execute = async ({ words }, client) => ({ bytes: (await " +
        "client.tti.generate_image(words)).length });",
    );
    folder.write(
      "tools/paint/paint.mcp.json",
      JSON.stringify({ name: "paint", description: "Paints.", input_schema: { type: "object" } }),
    );
    const local = binding({ tools_folder_path: `${folder.path}/tools` });
    const instance = { tti: { generateImage: () => PNG } };
    expect(await local.executeTool("paint", { words: "an otter" }, { lollms_client_instance: instance })).toEqual({
      output: { bytes: PNG.length },
      status_code: 200,
    });
    expect(await local.executeTool("paint", { words: "an otter" }, { lollms_client_instance: {} })).toMatchObject({
      error: expect.stringContaining("tti") as string,
    });
  });

  test.each([
    ["no instance", {}],
    ["no binding", { lollms_client_instance: {} }],
    ["no active binding", { lollms_client_instance: { tti: null } }],
  ])("L36: with %s it reports the missing part", async (_what, options) => {
    const answer = await binding().executeTool(image, { prompt: "an otter" }, options);
    expect(answer).toMatchObject({
      error: expect.stringContaining("tti") as string,
      output: { status: "error", message: expect.stringContaining("models.image") as string },
    });
    expect(existsSync(`${folder.path}/files`)).toBe(false);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("out of paint");
      },
      "out of paint",
    ],
    ["rejects", () => Promise.reject(new Error("out of paint")), "out of paint"],
    ["gives no bytes", () => "png", "Uint8Array"],
    ["gives bytes that are no image", () => Buffer.from("<html>"), "not an image"],
  ])("L36: if the binding %s, returns a clear failure and writes no file", async (_what, generateImage, words) => {
    const answer = await binding().executeTool(
      image,
      { prompt: "an otter" },
      { lollms_client_instance: { tti: { generateImage: generateImage as never } } },
    );
    expect(answer).toMatchObject({ output: { status: "error", message: expect.stringContaining(words) as string } });
    expect(existsSync(`${folder.path}/files`)).toBe(false);
  });

  test("L36: does not wait for a binding that never responds", async () => {
    const answer = await binding().executeTool(
      image,
      { prompt: "an otter" },
      { timeout: "100ms", lollms_client_instance: { tti: { generateImage: () => new Promise<never>(() => {}) } } },
    );
    expect(answer).toMatchObject({ status_code: 504 });
  });

  test("L36: a hub's configured model generates the image, and its refusal is the tool's failure", async () => {
    let status = 200;
    const server = kept(
      await startServer(
        (_request, response) =>
          sendJson(
            response,
            status,
            status === 200
              ? { created: 1, data: [{ b64_json: PNG.toString("base64") }] }
              : { error: { message: "Not that.", type: "x" } },
          ),
        { path: "/v1" },
      ),
    );
    const one = await hub({ models: { image: "here/any", providers: { here: { base_url: server.url } } } });
    expect(await one.call(image, { prompt: "an otter", output_filename_suggestion: "otter" })).toMatchObject({
      ok: true,
      result: { structuredContent: { status: "success", image_path: "otter.png" } },
    });
    status = 400;
    expect(await one.call(image, { prompt: "an otter" })).toMatchObject({
      ok: false,
      kind: "tool_error",
      result: { structuredContent: { status: "error", message: expect.stringContaining("Not that.") as string } },
    });
  });

  test("names the setting for a model if the hub has none", async () => {
    expect(await (await hub()).call(image, { prompt: "an otter" })).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("models.image") as string,
    });
  });
});

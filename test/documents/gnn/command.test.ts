import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { CLI } from "../../support/serve-child.ts";
import { ToolFolder } from "../../support/tool-folder.ts";
import { request } from "./core.ts";

const PROGRAM = fileURLToPath(new URL("program.mjs", import.meta.url));

let folder: ToolFolder;

beforeEach(() => {
  folder = new ToolFolder();
  folder.write(
    "src/text/mcp.mjs",
    `console.log("printed while loading");
export function register_tools(mcp) {
  mcp.register_tool("text.upper", ({ text }) => { console.log("printed by a tool");
    return { upper: text.toUpperCase() }; }, { type: "object", properties: { text: { type: "string" } },
    required: ["text"] }, "Upper case.");
  mcp.register_tool("bad.run", () => { throw new Error("boom"); });
  mcp.register_resource("doc://{id}", (_uri, { id }) => { if (id === "bad") throw new Error("disk gone"); return { id };
    }, "Docs");
}`,
  );
});
afterEach(() => folder[Symbol.dispose]());

function start(words: readonly string[], file = CLI) {
  const env = { PATH: process.env["PATH"], HOME: folder.path, TOOLYARD_HOME: `${folder.path}/home` };
  const child = spawn(process.execPath, [file, ...words], { cwd: folder.path, env });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "close").then(([code]) => {
    process.off("exit", kill);
    return code as number | null;
  });
  return { child, ended };
}

async function run(
  words: readonly string[],
  input = "",
  file = CLI,
): Promise<{ code: number | null; out: string; err: string }> {
  const { child, ended } = start(words, file);
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

const core = (...words: string[]) => run(["core", ...words]);
const lines = (...values: object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

test("G40: commands are list, execute, resource and server; -v and --log-level set the log level", async () => {
  const help = await core("--help");
  for (const command of ["list", "execute", "resource", "server"])
    expect(help.out).toMatch(new RegExp(`^ {2}${command} `, "m"));
  expect((await core("-v", "execute", "text.upper", "--params", '{"text":"a"}')).err).toContain("DEBUG");
  expect((await core("execute", "text.upper", "--params", '{"text":"a"}', "--log-level", "info")).err).toMatch(
    /Attempting to execute tool: text\.upper/,
  );
});

test("G40: a missing or unknown command is a usage error", async () => {
  expect((await core()).code).toBe(2);
  expect(await core("lisst")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("list") });
});

test("G41: list prints the capabilities as indented JSON", async () => {
  const { code, out } = await core("list");
  const capabilities = JSON.parse(out) as { tools: JsonObject[] };
  expect([code, out]).toEqual([0, `${JSON.stringify(capabilities, null, 2)}\n`]);
  expect(capabilities).toMatchObject({
    mcp_version: "1.0-gnn",
    resources: [{ uri_template: "doc://{id}", description: "Docs" }],
  });
  expect(capabilities.tools.map(({ name }) => name)).toContain("text.upper");
});

test("G41: an unreadable configuration prints no list", async () => {
  const { code, out, err } = await core("list", "--config", "none.toml");
  expect([code, out, JSON.parse(err)]).toMatchObject([1, "", { status: "error" }]);
});

test("G42: execute prints status and result; params default to an empty object", async () => {
  const { code, out, err } = await core("execute", "text.upper", "--params", '{"text":"abc"}');
  expect([code, JSON.parse(out)]).toEqual([0, { status: "success", result: { upper: "ABC" } }]);
  expect(err).toBe("printed while loading\nprinted by a tool\n");
  expect(JSON.parse((await core("execute", "meta.ping")).out)).toEqual({ status: "success", result: "pong" });
});

test("G42: a failed call prints nothing on standard output", async () => {
  expect(await core("execute", "text.upper")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("Missing required parameter: text"),
  });
});

test.each([
  ["an unknown tool", ["no_tool"], "Tool 'no_tool' not found."],
  ["a tool that fails", ["bad.run"], "Error executing tool 'bad.run': boom"],
  ["parameters that are no JSON", ["bad.run", "--params", "{"], "--params must be a JSON object"],
  ["parameters that are no object", ["bad.run", "--params", "[1]"], "--params must be a JSON object"],
])("G43: %s is an error object on standard error, and exit code 1", async (_what, words, message) => {
  const { code, out, err } = await core("execute", ...words);
  const json = err.slice(err.indexOf("{"));
  expect([code, out, JSON.parse(json)]).toEqual([
    1,
    "",
    { status: "error", message: expect.stringContaining(message) },
  ]);
});

test("G43: a successful call has exit code 0 and no error object", async () => {
  const { code, err } = await core("execute", "meta.ping");
  expect([code, err]).toEqual([0, "printed while loading\n"]);
});

test("G44: resource prints status and resource", async () => {
  const { code, out } = await core("resource", "doc://7");
  expect([code, JSON.parse(out)]).toEqual([0, { status: "success", resource: { id: "7" } }]);
});

test("G44: a missing or failing resource is an error object with exit code 1", async () => {
  for (const [uri, message] of [
    ["else://1", "Resource 'else://1' not found."],
    ["doc://bad", "Error retrieving resource 'doc://bad': disk gone"],
  ] as const) {
    const { code, out, err } = await core("resource", uri);
    expect([code, out, JSON.parse(err.slice(err.indexOf("{")))]).toEqual([1, "", { status: "error", message }]);
  }
});

test("G45: server has transport, host and port with their defaults", async () => {
  const { out } = await core("server", "--help");
  expect(out).toMatch(/--transport <type>.*\(choices: "stdio", "http",\s+default:\s+"stdio"\)/s);
  expect(out).toMatch(/--host <host>.*\(default: "127\.0\.0\.1"\)/);
  expect(out).toMatch(/--port <port>[^(]*\(default: 8080\)/);
});

test("G45: refuses another transport, and an invalid port", async () => {
  expect(await core("server", "--transport", "pigeon")).toMatchObject({
    code: 2,
    err: expect.stringContaining("stdio"),
  });
  expect(await core("server", "--transport", "http", "--port", "many")).toMatchObject({
    code: 2,
    err: expect.stringContaining("65535"),
  });
});

test("G46: the banner of stdio goes to standard error; standard output is only the protocol", async () => {
  const { code, out, err } = await run(
    ["core", "server"],
    lines(request("text.upper", { text: "a" }), request("mcp/discover", {}, 2)),
  );
  expect(code).toBe(0);
  expect(err).toContain("Starting MCP server on stdio...\n");
  const replies = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
  expect(replies.toSorted((a, b) => Number(a["id"]) - Number(b["id"]))).toMatchObject([
    { id: 1, result: { upper: "A" } },
    { id: 2, result: { mcp_version: "1.0-gnn" } },
  ]);
});

test("G46: the banners of HTTP go to standard error; the server runs until Ctrl+C", async () => {
  const { child, ended } = start(["core", "server", "--transport", "http", "--port", "0"]);
  const said: string[] = [];
  const out = text(child.stdout);
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      said.push(line);
      const found = /^Starting MCP server on HTTP (http:\S+)\.\.\.$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const response = await fetch(`${url}/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request("text.upper", { text: "a" })),
  });
  expect(await response.json()).toMatchObject({ result: { upper: "A" } });
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(await out).not.toMatch(/Starting|Shutting/);
  expect(said).toContain("Shutting down HTTP server...");
});

test("G47: discovers modules before a command runs", async () => {
  const { out } = await core("execute", "meta.get_server_status");
  expect(JSON.parse(out)).toMatchObject({ result: { discovered_modules_count: 1, loaded_modules: ["src.text.mcp"] } });
});

test("G47: a configuration sets the module folders, and replaces the default one", async () => {
  folder.write("toolyard.toml", '[modules]\npaths = ["mods"]\n');
  folder.write(
    "mods/other/mcp.mjs",
    'export function register_tools(mcp) { mcp.register_tool("other.run", () => 1); }',
  );
  const names = (JSON.parse((await core("list")).out) as { tools: JsonObject[] }).tools.map(({ name }) => name);
  expect(names).toContain("other.run");
  expect(names).not.toContain("text.upper");
});

test("G29: start_stdio_server serves discovered modules and the program's registrations", async () => {
  const { code, out, err } = await run(
    [`${folder.path}/src`],
    lines(request("own.tool"), request("text.upper", { text: "b" }, 2)),
    PROGRAM,
  );
  const replies = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
  expect(replies).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 1, result: "own" }),
      expect.objectContaining({ id: 2, result: { upper: "B" } }),
    ]),
  );
  expect(code).toBe(0);
  expect(err).toMatch(/printed by a tool(.|\n)*over\n$/);
});

test("G29: serves without any discovered module", async () => {
  const { code, out } = await run([`${folder.path}/nowhere`], lines(request("no_tool")), PROGRAM);
  expect([code, JSON.parse(out)]).toMatchObject([0, { error: { code: -32601 } }]);
});

test("G28: Ctrl+C ends a server on stdio", async () => {
  const { child, ended } = start(["core", "server"]);
  child.stdin.write(lines(request("meta.ping")));
  await once(child.stdout, "data");
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});

test("G43: without toolyard.toml and src, the error for an unknown tool names what is missing", async () => {
  folder.remove("src");
  const { code, err } = await core("execute", "text.upper");
  const { message } = JSON.parse(err) as { readonly message: string };
  expect([code, message]).toEqual([
    1,
    expect.stringMatching(/^Tool 'text\.upper' not found\. No modules are configured: /),
  ]);
  expect(message).toContain("has no toolyard.toml and no folder src");
});

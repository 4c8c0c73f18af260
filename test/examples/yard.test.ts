import { execFile, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Desk, exitOf, gone, isAlive, ROOT, seen } from "../cli/harness.ts";

const run = promisify(execFile);
const START = [
  process.execPath,
  "--import",
  join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js"),
  join(ROOT, "examples/yard/start.ts"),
  "--port",
  "0",
];

let desk: Desk;
let yard: ChildProcess;
let printed: string;
let endpoint: string;
let client: Client;

beforeAll(async () => {
  desk = await Desk.create();
  yard = desk.startCommand(START);
  yard.stderr!.resume();
  ({ input: printed } = await seen(yard.stdout!, /Ctrl\+C ends it\.\n/));
  endpoint = /at (http:\S+)/.exec(printed)![1]!;
  client = new Client({ name: "desktop", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)) as never);
});

afterAll(async () => {
  await client.close();
  yard.kill("SIGINT");
  await exitOf(yard);
  await desk[Symbol.asyncDispose]();
});

/** Returns the output of a line that `npm start` prints, run in a folder outside the yard. */
async function shell(line: string): Promise<string> {
  const env = { PATH: process.env["PATH"], HOME: desk.folder, TOOLYARD_HOME: desk.path("home") };
  return (await run("sh", ["-c", line], { cwd: desk.folder, env })).stdout;
}

function printedLine(pattern: RegExp): string {
  return printed.split("\n").find((line) => pattern.test(line))!;
}

async function call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  return client.callTool({ name, arguments: args });
}

describe("output of `npm start`", () => {
  test("has a table of tools by source and visibility, with every source ready", () => {
    const rows = printed
      .split("\n")
      .filter((line) => / (ready|down|starting|disabled)/.test(line))
      .map((line) => line.split(/ {2,}/));
    expect(
      rows.map(([source, kind, native, ondemand]) => ({
        source,
        kind,
        native: Number(native),
        ondemand: Number(ondemand),
      })),
    ).toEqual([
      { source: "builtin", kind: "builtin", native: 3, ondemand: expect.any(Number) },
      { source: "modules", kind: "modules", native: 4, ondemand: 0 },
      { source: "scripts", kind: "scripts", native: 1, ondemand: 1 },
      { source: "folders", kind: "folders", native: 1, ondemand: 0 },
      { source: "everything", kind: "stdio", native: expect.any(Number), ondemand: 0 },
      { source: "files", kind: "stdio", native: expect.any(Number), ondemand: 0 },
      { source: "memory", kind: "stdio", native: 0, ondemand: expect.any(Number) },
      { source: "services.library", kind: "stdio", native: 14, ondemand: 0 },
      { source: "remote", kind: "http", native: 0, ondemand: expect.any(Number) },
    ]);
    expect(rows.map((row) => row.at(-1))).toEqual(rows.map(() => "ready"));
  });

  test("has a curl command that works unchanged from any folder", async () => {
    const line = printedLine(/^curl /);
    expect(line).toBe(`curl -s ${endpoint.replace(/\/mcp$/, "/api/tools")}`);
    const { tools } = JSON.parse(await shell(line)) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["calculator", "text_change_case", "word_frequency", "files__read_text_file"]),
    );
  });

  test("has commands that work unchanged from any folder", async () => {
    expect(await shell(printedLine(/^node .* search /))).toMatch(/^[\d.]+ +calculator +Perform calculations$/m);
    expect(await shell(printedLine(/^node .* call /))).toBe('{"result":5}\n');
    expect(JSON.parse(await shell(printedLine(/^curl .*calculator/)))).toMatchObject({ result: 5 });
    expect(printedLine(/^node .* connect /)).toContain(`--config ${join(ROOT, "examples/yard/toolyard.toml")}`);
  });

  test("has the JSON for clients: an address, and a command to start", async () => {
    const [address, command] = printed
      .split("\n")
      .filter((line) => line.startsWith('{"mcpServers"'))
      .map((line) => (JSON.parse(line) as { mcpServers: { toolyard: Record<string, never> } }).mcpServers.toolyard);
    expect(address).toEqual({ type: "http", url: endpoint });
    const { command: program, args } = command as unknown as { command: string; args: string[] };
    const own = new Client({ name: "desktop", version: "1" });
    await own.connect(
      new StdioClientTransport({
        command: program,
        args,
        cwd: desk.folder,
        env: { TOOLYARD_HOME: desk.path("own") },
        stderr: "ignore",
      }),
    );
    expect(await own.callTool({ name: "calculator", arguments: { operation: "multiply", a: 6, b: 7 } })).toMatchObject({
      structuredContent: { result: 42 },
    });
    await own.close();
  });
});

describe("tools of the yard", () => {
  test("send_email writes a mail into the outbox", async () => {
    const { structuredContent } = await call("send_email", { to: "ada@example.com", subject: "Grüße", body: "Hello" });
    const { status, file } = structuredContent as { status: string; file: string };
    expect(status).toBe("written");
    const path = join(ROOT, "examples/yard", file);
    const mail = await readFile(path, "utf8");
    await rm(path);
    expect(mail).toContain("To: ada@example.com");
    expect(mail).toMatch(/\r\n\r\nHello/);
  });

  test.each([
    ["a module", "text.change_case", { text: "hello world" }, "Hello World"],
    ["a script", "calculator", { operation: "add", a: 2, b: 3 }, '{"result":5}'],
    ["a tool folder", "word_frequency", { text: "a b a", top: 1 }, '{"words":[{"word":"a","count":2}]}'],
    ["a stdio server", "everything__echo", { message: "hi" }, "Echo: hi"],
    [
      "another one",
      "files__read_text_file",
      { path: "hello.txt" },
      readFileSync(join(ROOT, "examples/yard/files/hello.txt"), "utf8"),
    ],
    ["one that is found by search only", "memory__search_nodes", { query: "nobody has this name" }, '"entities": []'],
    ["a server on HTTP", "remote__echo", { message: "hi" }, "Echo: hi"],
  ])("%s answers: %s", async (_what, name, args, text) => {
    const { content, isError } = await call(name, args);
    expect(isError).not.toBe(true);
    expect((content as { text: string }[])[0]!.text).toContain(text);
  });

  test("does not list ondemand tools, and finds them by search", async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).not.toContain("send_email");
    expect(JSON.stringify(await call("tool_search", { query: "send an email" }))).toContain("send_email");
  });
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the yard and its children",
  async (signal) => {
    await using own = await Desk.create();
    const child = own.startCommand([...START, "--json"]);
    child.stderr!.resume();
    const [line] = await seen(child.stdout!, /\{.*\}\n/);
    const served = JSON.parse(line) as { url: string; pid: number };
    const children = async (): Promise<readonly number[]> => {
      const { sources } = (await (await fetch(served.url.replace(/mcp$/, "status"))).json()) as {
        sources: { pid?: number }[];
      };
      return sources.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    };
    // All children: those of the hub, the hub itself, and the separate server on HTTP.
    let hubChildren = await children();
    while (hubChildren.length < 3) hubChildren = await children();
    const { stdout } = await run("ps", ["-o", "pid=", "--ppid", String(child.pid)]);
    const pids = [...hubChildren, ...stdout.trim().split(/\s+/).map(Number)];
    expect(pids).toContain(served.pid);
    expect(pids.length).toBeGreaterThanOrEqual(5);
    expect(pids.every(isAlive)).toBe(true);
    child.kill(signal);
    expect(await exitOf(child)).toBe(0);
    await Promise.all(pids.map(gone));
  },
  60_000,
);

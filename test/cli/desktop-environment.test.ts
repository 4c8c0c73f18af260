import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { CLIENTS, clientFile } from "../../packages/toolyard/src/config/connect/clients.ts";
import { Desk, MAIN } from "./harness.ts";
import { SERVER } from "./small-server.ts";

const CURSOR = CLIENTS.find(({ id }) => id === "cursor")!;
const FILE = clientFile(CURSOR, { variables: { HOME: "home" }, cwd: "/", platform: "linux" });
/** The PATH of a program that the desktop starts. */
const BARE = "/usr/bin:/bin";
/** PATH of a program that the desktop starts, with the folder of Node in addition. */
const SMALL = `${dirname(process.execPath)}:${BARE}`;

/** A desk whose server runs a program that is only in the PATH of the terminal. */
async function createDesk(): Promise<Desk> {
  const toml = '[mcp.stdio_servers.small]\ncommand = ["only-in-terminal", "server.mjs"]\n';
  const desk = await Desk.create({ "server.mjs": SERVER, "toolyard.toml": toml });
  await mkdir(desk.path("bin"));
  await symlink(process.execPath, desk.path("bin/only-in-terminal"));
  return desk;
}

/** A server whose tool returns the PATH of its process and the number of calls that the process has answered. */
const PATH_SERVER = `
import { createInterface } from "node:readline";
let calls = 0;
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const tools = [{ name: "path", inputSchema: { type: "object" } }];
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "path", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": () => {
    const text = JSON.stringify({ path: process.env.PATH, calls: ++calls });
    return { content: [{ type: "text", text }] };
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method];
  send(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: "unknown method" } });
});
`;

/** A desk with a server that reports its PATH, connected without a stored environment. */
async function createPathDesk(): Promise<{ desk: Desk; entry: Entry; rich: string }> {
  const toml = '[mcp.stdio_servers.small]\ncommand = ["node", "server.mjs"]\n';
  const desk = await Desk.create({ "server.mjs": PATH_SERVER, "toolyard.toml": toml });
  await mkdir(desk.path("bin"));
  await desk.run(["connect", "cursor", "--yes", "--mode", "normal"], terminal(desk));
  await rm(desk.path("home/toolyard/data/environment.json"));
  return { desk, entry: await entryOf(desk), rich: desk.path("bin") };
}

const terminal = (desk: Desk) => ({ env: { PATH: `${desk.path("bin")}:${process.env["PATH"] ?? ""}` } });

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function entryOf(desk: Desk): Promise<Entry> {
  const text = await readFile(desk.path(FILE), "utf8");
  return (JSON.parse(text) as { mcpServers: { toolyard: Entry } }).mcpServers.toolyard;
}

/** Starts the hub as a client does, with the given PATH and nothing else of this environment. */
async function open(desk: Desk, { command, args, env }: Entry, path: string) {
  const client = new Client({ name: "client", version: "1" });
  const transport = new StdioClientTransport({
    command,
    args: [...args, "--linger", "200ms"],
    env: { HOME: desk.path("home"), PATH: path, ...env },
    cwd: "/",
    stderr: "ignore",
  });
  await client.connect(transport);
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    process: async () => {
      const { content } = (await client.callTool({ name: "small__path" })) as { content: { text: string }[] };
      return JSON.parse(content[0]!.text) as { path: string; calls: number };
    },
    echo: async (text: string) => (await client.callTool({ name: "small__echo", arguments: { text } })).content,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

type Variables = Record<string, string>;

const said = (text: string) => [{ type: "text", text }];

describe.runIf(process.platform !== "win32")("a hub that a desktop client starts", () => {
  test("has the PATH of the terminal in which `connect` ran; its entry has no path of one version", async () => {
    await using desk = await createDesk();
    expect(await desk.run(["connect", "cursor", "--yes"], terminal(desk))).toMatchObject({ code: 0 });
    const entry = await entryOf(desk);
    for (const path of [process.execPath, MAIN, "_npx"]) expect(JSON.stringify(entry)).not.toContain(path);
    await using client = await open(desk, entry, BARE);
    expect(await client.echo("hi")).toEqual(said("hi"));
  });

  test("has the same environment if it serves one client alone", async () => {
    await using desk = await createDesk();
    await desk.run(["connect", "cursor", "--yes", "--own"], terminal(desk));
    const entry = await entryOf(desk);
    const args = entry.args.filter((word) => word !== "--shared");
    await using client = await open(desk, { ...entry, args }, BARE);
    expect(await client.echo("own")).toEqual(said("own"));
  });

  test("finds a missing program for all clients once one client has it in its PATH, and keeps that PATH", async () => {
    await using desk = await createDesk();
    await desk.run(["connect", "cursor", "--yes", "--mode", "normal"], terminal(desk));
    await rm(desk.path("home/toolyard/data/environment.json"));
    const entry = await entryOf(desk);
    await using poor = await open(desk, entry, BARE);
    expect(JSON.stringify(await poor.echo("hi"))).toMatch(
      /small is not available.*Command `only-in-terminal` was not found/,
    );
    await using rich = await open(desk, entry, `${BARE}:${desk.path("bin")}`);
    expect(await rich.echo("rich")).toEqual(said("rich"));
    expect(await poor.echo("poor")).toEqual(said("poor"));
    await using late = await open(desk, entry, BARE);
    expect(await late.echo("late")).toEqual(said("late"));
  });

  test("restarts a server that no client has called when a client brings a richer PATH", async () => {
    const { desk, entry, rich } = await createPathDesk();
    await using _desk = desk;
    await using poor = await open(desk, entry, SMALL);
    expect(await poor.tools()).toContain("small__path");
    await using _joined = await open(desk, entry, `${SMALL}:${rich}`);
    const { path, calls } = await poor.process();
    expect(path.split(":")).toContain(rich);
    expect(calls).toBe(1);
  });

  test("keeps the process of a server that a client has called when a client brings a richer PATH", async () => {
    const { desk, entry, rich } = await createPathDesk();
    await using _desk = desk;
    await using poor = await open(desk, entry, SMALL);
    expect((await poor.process()).path.split(":")).not.toContain(rich);
    await using joined = await open(desk, entry, `${SMALL}:${rich}`);
    const { path, calls } = await joined.process();
    expect(path.split(":")).not.toContain(rich);
    expect(calls).toBe(2);
  });

  test("finds the programs that `check` and `doctor` report, before and after `connect`", async () => {
    await using desk = await createDesk();
    const gap = "small: a desktop client's hub would not find `only-in-terminal`";
    const run = (...args: readonly string[]) => desk.run(args, terminal(desk));
    const before = await run("check");
    expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining(gap) });
    expect((await run("doctor")).stdout).toMatch(/desktop clients [^]*stores the PATH of this terminal for it/);
    await run("connect", "cursor", "--yes");
    expect((await run("check")).stdout).not.toContain(gap);
    expect(JSON.parse((await run("check", "--json")).stdout)).toMatchObject({ desktop: [] });
    const { findings } = JSON.parse((await run("doctor", "--json")).stdout) as { findings: { what: string }[] };
    expect(findings.find(({ what }) => what === "desktop clients")).toMatchObject({
      ok: true,
      detail: expect.stringContaining(desk.path("bin")),
    });
  });

  test("has the folders that the login shell adds to the PATH", async () => {
    await using desk = await createDesk();
    const env = { PATH: SMALL, SHELL: "/bin/sh", HOME: desk.path("home") };
    await mkdir(desk.path("home"), { recursive: true });
    await writeFile(desk.path("home/.profile"), `PATH="${desk.path("bin")}:$PATH"\n`);
    await desk.run(["connect", "cursor", "--yes", "--own"], { env });
    const stored = JSON.parse(await readFile(desk.path("home/toolyard/data/environment.json"), "utf8")) as Variables;
    expect(stored["PATH"]!.split(":")).toContain(desk.path("bin"));
  });

  test("keeps the folders of an earlier `connect`, and does not store folders that npx adds", async () => {
    await using desk = await createDesk();
    await desk.run(["connect", "cursor", "--yes"], terminal(desk));
    const npx = `${desk.path("x/_npx/1/node_modules/.bin")}:${dirname(process.execPath)}:${BARE}`;
    const env = { PATH: npx, npm_config_registry: "https://npm.example", "npm_config_//npm.example/:_authToken": "s3" };
    await desk.run(["connect", "cursor", "--yes", "--own"], { env });
    const text = await readFile(desk.path("home/toolyard/data/environment.json"), "utf8");
    const stored = JSON.parse(text) as Record<string, string>;
    expect(stored["PATH"]!.split(":")).toContain(desk.path("bin"));
    expect(stored["npm_config_registry"]).toBe("https://npm.example");
    expect(text).not.toMatch(/_npx|s3/);
  });
});

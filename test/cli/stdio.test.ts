import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { Desk, exitOf, gone, MAIN } from "./harness.ts";
import { SCRIPTS, SCRIPTS_TOML } from "./files.ts";

const LOUD = `console.log("loud at import");
process.stdout.write("and straight to the stream\\n");
export function registerTools(hub) {
  console.info("loud at registration");
  hub.registerTool("loud.call", () => { console.log("loud in a call"); console.warn("a warning");
    process.stdout.write("no line break"); return "quiet"; }, {}, "Prints");
  hub.registerTool("loud.late", () => { setTimeout(() => { console.log("late");
    throw new Error("nobody waits for this"); }, 1); return "later"; }, {}, "Throws when its call is over");
  hub.registerTool("loud.crash", () => { throw new Error("crashed"); }, {}, "Crashes");
}
`;

const FILES = {
  ...SCRIPTS,
  "modules/loud/mcp.mjs": LOUD,
  "modules/broken/mcp.mjs": 'console.log("before it breaks");\nthrow new Error("this module is broken");\n',
  "broken.mjs": 'console.log("not JSON at all"); console.error("boom"); process.exit(1);\n',
  "toolyard.toml": `${SCRIPTS_TOML}
[modules]
paths = ["modules"]
[mcp.stdio_servers.dies]
command = ["node", "broken.mjs"]
[mcp.stdio_servers.unset]
command = ["node", "x.mjs"]
env = { KEY = "\${NOT_SET_ANYWHERE}" }
`,
};

test("serve --stdio: standard output holds only the protocol, even if modules print or throw", async () => {
  await using desk = await Desk.create(FILES);
  const child = desk.start(["serve", "--stdio"]);
  const lines: string[] = [];
  let rest = "";
  const answered = new Map<number, (message: Record<string, unknown>) => void>();
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    for (const line of parts) {
      lines.push(line);
      const message = JSON.parse(line) as Record<string, unknown>;
      answered.get(message["id"] as number)?.(message);
    }
  });
  let stderr = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const request = (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
    const answer = new Promise<Record<string, unknown>>((resolve) => answered.set(id, resolve));
    child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answer;
  };
  await request(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const call = (id: number, name: string): Promise<Record<string, unknown>> =>
    request(id, "tools/call", { name, arguments: {} });
  expect(await call(2, "loud.call")).toMatchObject({ result: { content: [{ type: "text", text: "quiet" }] } });
  expect(await call(3, "loud.crash")).toMatchObject({ result: { isError: true } });
  expect(await call(4, "loud.late")).toMatchObject({ result: { content: [{ type: "text", text: "later" }] } });
  expect(await call(5, "loud.call")).toMatchObject({ result: {} });
  child.stdin!.end();
  expect(await exitOf(child)).toBe(0);
  expect(rest).toBe("");
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  for (const words of [
    "loud at import",
    "loud in a call",
    "this module is broken",
    "NOT_SET_ANYWHERE",
    "nobody waits for this",
  ])
    expect(stderr).toContain(words);
});

test("serve --stdio: the v1 client starts it, lists, calls, and leaves no child at its end", async () => {
  await using desk = await Desk.create(FILES);
  const env = { PATH: process.env["PATH"]!, HOME: desk.path("home"), TOOLYARD_HOME: desk.path("home") };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "serve", "--stdio", "--config", desk.path("toolyard.toml")],
    env,
    stderr: "ignore",
  });
  const client = new Client({ name: "desktop", version: "1" });
  const errors: unknown[] = [];
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way
  client.onerror = (error) => void errors.push(error);
  await client.connect(transport);
  const pid = transport.pid!;
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["work", "loud.call"]));
  expect(await client.callTool({ name: "work", arguments: { how: "well" } })).toMatchObject({
    structuredContent: { how: "well" },
  });
  await client.close();
  await gone(pid);
  expect(errors).toEqual([]);
});

test("serve --config mcp.json: accepts the file of a desktop client unchanged", async () => {
  const server = `import { createInterface } from "node:readline";
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") answer(id, { protocolVersion: "2025-06-18", capabilities: { tools: {} },
    serverInfo: { name: "s", version: "1" } });
  else if (method === "tools/list") answer(id, { tools: [{ name: "hi", inputSchema: { type: "object" } }] });
  else if (method === "tools/call") answer(id, { content: [{ type: "text", text: "hi from " + process.env.WHO }] });
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id,
    error: { code: -32601, message: "no" } }));
});
`;
  const config = {
    mcpServers: {
      mine: { type: "stdio", command: process.execPath, args: ["./s.mjs"], env: { WHO: "mcp.json" }, autoApprove: [] },
      off: { command: "no-such-program", disabled: true },
    },
  };
  await using desk = await Desk.create({ "s.mjs": server, "mcp.json": JSON.stringify(config) });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "serve", "--stdio", "--config", desk.path("mcp.json")],
    env: { PATH: process.env["PATH"]!, TOOLYARD_HOME: desk.path("home") },
    stderr: "ignore",
  });
  const client = new Client({ name: "desktop", version: "1" });
  await client.connect(transport);
  expect(await client.callTool({ name: "mine__hi", arguments: {} })).toMatchObject({
    content: [{ text: "hi from mcp.json" }],
  });
  await client.close();
});

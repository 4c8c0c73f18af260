// The Inspector as an independent client: its command line in both eras, and its `mcpdo` for lasting connections. Both
// need a newer Node than the hub; `scripts/tools.mjs` installs it.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServedHub } from "../fixtures/served-hub.ts";
import { FULL_TOOL, INSTRUCTIONS, QUESTIONS } from "../fixtures/upstreams/rich-offers.mjs";
import { ensureTools } from "../../scripts/tools.mjs";
import { serveRich } from "./pass-through.ts";

interface Ran {
  readonly code: number | null;
  /** The last JSON value on standard output. */
  readonly json: JsonObject;
  readonly stderr: string;
}

let node: string;
let bin: string;
let home: string;
let hub: ServedHub;
let pipe: ServedHub;
let env: Record<string, string>;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  ({ node, bin } = ensureTools());
  home = await mkdtemp(join(tmpdir(), "toolyard-inspector-"));
  const daemon = {
    MCP_INSPECTOR_DAEMON_DIR: home,
    MCP_INSPECTOR_DAEMON_TOKEN: "a".repeat(43),
    MCP_INSPECTOR_SECRET_STORE: "file",
  };
  env = { ...(process.env as Record<string, string>), ...daemon, HOME: home };
  hub = await serveRich({ upstream: "legacy", transport: "stdio", endpoint: "HTTP" });
  pipe = await serveRich({ upstream: "modern", transport: "stdio", endpoint: "stdio" });
}, 180_000);

afterAll(async () => {
  const { json } = await run("mcpdo", ["--format", "json", "daemon", "status"]);
  await run("mcpdo", ["--format", "json", "daemon", "stop"]);
  for (const child of running) child.kill("SIGKILL");
  await gone(json["pid"]);
  await hub?.[Symbol.asyncDispose]();
  await pipe?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

function start(program: "mcp-inspector" | "mcpdo", args: readonly string[]): ChildProcess {
  const child = spawn(node, [join(bin, program), ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

async function run(program: "mcp-inspector" | "mcpdo", args: readonly string[]): Promise<Ran> {
  const child = start(program, args);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]!.setEncoding("utf8").on("data", (text: string) => void (output[name] += text));
  const [code] = (await once(child, "close")) as [number | null];
  const json = output.stdout.trim() === "" ? {} : (JSON.parse(output.stdout) as JsonObject);
  return { code, json, stderr: output.stderr };
}

/** Waits for the daemon, a separate process that exits a moment after its stop command. */
async function gone(pid: unknown): Promise<void> {
  const isAlive = (): boolean => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };
  if (typeof pid !== "number") return;
  for (let wait = 0; wait < 50 && isAlive(); wait += 1) await new Promise((done) => void setTimeout(done, 100));
  if (isAlive()) process.kill(pid, "SIGKILL");
}

const cli = (target: readonly string[], args: readonly string[]): Promise<Ran> =>
  run("mcp-inspector", ["--cli", ...target, ...args, "--format", "json"]);

describe.each(["legacy", "modern"] as const)("the Inspector's command line, %s", (era) => {
  const http = (): string[] => [hub.url!, "--transport", "http", "--protocol-era", era];

  test(`Inspector CLI (${era}, HTTP): lists a tool with all members that the Inspector supports`, async () => {
    const { code, json } = await cli(http(), ["--method", "tools/list"]);
    expect(code).toBe(0);
    const tools = (json["result"] as JsonObject)["tools"] as JsonObject[];
    const { title, description, inputSchema, outputSchema } = FULL_TOOL;
    expect(tools.find(({ name }) => name === "full")).toMatchObject({
      title,
      description,
      inputSchema,
      outputSchema,
      icons: [{ mimeType: "image/png" }],
    });
  });

  test(`Inspector CLI (${era}, HTTP): calls a tool, and reports a failing and a missing one`, async () => {
    const call = (name: string, args = "{}"): Promise<Ran> =>
      cli(http(), ["--method", "tools/call", "--tool-name", name, "--tool-args-json", args]);
    const [good, failing, missing] = await Promise.all([call("full", '{"city":"Oslo"}'), call("fail"), call("nobody")]);
    expect([good.code, good.json["result"]]).toMatchObject([
      0,
      { structuredContent: { temperature: 21, city: "Oslo", "x-structured": 1 }, "x-result": 1 },
    ]);
    expect([failing.code, failing.json["result"]]).toMatchObject([
      5,
      { isError: true, structuredContent: { why: "because" } },
    ]);
    expect(missing.code).toBe(5);
  });

  test(`Inspector CLI (${era}, HTTP): searches, reads a resource and gets a prompt`, async () => {
    // The Inspector calls only listed tools, and this mode lists the search tools.
    const discovery = [`${hub.url!}?tool_mode=discovery`, ...http().slice(1)];
    const [search, read, prompt] = await Promise.all([
      cli(discovery, ["--method", "tools/call", "--tool-name", "tool_search", "--tool-args-json", '{"query":"full"}']),
      cli(http(), ["--method", "resources/read", "--uri", "rich://full"]),
      cli(http(), ["--method", "prompts/get", "--prompt-name", "full", "--prompt-args", "who=Ada"]),
    ]);
    expect(JSON.stringify(search.json)).toContain("Has every member.");
    expect(read.json["result"]).toMatchObject({ contents: [{ uri: "rich://full", text: "full" }, {}], "x-result": 1 });
    expect(prompt.json["result"]).toMatchObject({ description: "For Ada" });
  });
});

test("Inspector CLI (legacy, HTTP): completes the handshake", async () => {
  const { json } = await cli([hub.url!, "--transport", "http"], ["--method", "initialize"]);
  expect(json["result"]).toMatchObject({
    protocolVersion: "2025-11-25",
    serverInfo: { name: "toolyard" },
    instructions: INSTRUCTIONS,
  });
});

test("Inspector CLI (stdio): calls a tool of the hub that it starts", async () => {
  const file = join(home, "stdio.json");
  const { command, args, env: childEnv } = pipe.command!;
  await writeFile(
    file,
    JSON.stringify({ mcpServers: { pipe: { command, args, env: { TOOLYARD_HOME: childEnv["TOOLYARD_HOME"] } } } }),
  );
  const { code, json } = await cli(
    ["--config", file, "--server", "pipe"],
    ["--method", "tools/call", "--tool-name", "echo", "--tool-args-json", '{"n":1}'],
  );
  expect([code, json["result"]]).toMatchObject([
    0,
    { structuredContent: { params: { name: "echo", arguments: { n: 1 } } } },
  ]);
});

describe.each(["legacy", "modern"] as const)("mcpdo, %s", (era) => {
  const mcpdo = (...args: string[]): Promise<Ran> => run("mcpdo", ["--format", "json", ...args]);
  const at = `@${era}`;

  beforeAll(async () => {
    const file = join(home, `${era}.json`);
    await writeFile(file, JSON.stringify({ mcpServers: { [era]: { type: "http", url: hub.url } } }));
    const { json, stderr } = await mcpdo("connect", era, "--config", file, "--era", era);
    expect(json, stderr).toMatchObject({ name: era, protocolEra: era });
  });

  test(`mcpdo (${era}, HTTP): shows a server request to the user, and returns the answer to the tool`, async () => {
    const asked = (await mcpdo(at, "tools/call", "elicit")).json["elicitationPending"] as JsonObject;
    expect(asked).toMatchObject({
      message: "Who are you?",
      requestedSchema: QUESTIONS.elicit.params["requestedSchema"],
    });
    const { json } = await mcpdo("elicitation/respond", String(asked["elicitationId"]), "name:=Ada", "sure:=true");
    expect(json["structuredContent"]).toMatchObject({
      answer: { action: "accept", content: { name: "Ada", sure: true } },
    });
  });

  test(`mcpdo (${era}, HTTP): receives a resource update on its lasting connection`, async () => {
    const listening = start("mcpdo", ["--format", "json", at, "resources/subscribe", "rich://watched"]);
    const lines = createInterface({ input: listening.stdout! });
    const heard = (what: string): Promise<void> =>
      new Promise((resolve) => void lines.on("line", (line) => line.includes(`"type": "${what}"`) && resolve()));
    const updated = heard("resources/updated");
    await heard("subscribed");
    await mcpdo(at, "tools/call", "touch", "uri:=rich://watched");
    await updated;
    const over = once(listening, "exit");
    listening.kill();
    await expect(over).resolves.toBeDefined();
  });

  test(`mcpdo (${era}, HTTP): lists a list again that changed while it was connected`, async () => {
    const { json } = await mcpdo(at, "tools/call", "grow", "list:=tools");
    const name = String((json["content"] as JsonObject[])[0]!["text"]);
    expect(JSON.stringify((await mcpdo(at, "tools/list")).json)).toContain(`"${name}"`);
  });
});

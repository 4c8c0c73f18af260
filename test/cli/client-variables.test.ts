import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readFile } from "node:fs/promises";
import { stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import { CLIENTS, clientFile } from "../../packages/toolyard/src/config/connect/clients.ts";
import { Desk } from "./harness.ts";

/** An MCP server that returns its arguments and the variables that begin with `X_`. */
const SHOW = `import { createInterface } from "node:readline";
const show = () => JSON.stringify({ args: process.argv.slice(2),
  env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("X_"))) });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: "show", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "show", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: show() }] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  console.log(JSON.stringify(answer ? { jsonrpc: "2.0", id, result: answer(params ?? {}) }
    : { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }));
});
`;
const SET = { V: "value", EMPTY: "" };

function fileOf(id: string): string {
  const client = CLIENTS.find((one) => one.id === id)!;
  const places = { variables: { HOME: "/h", USERPROFILE: "/h" }, cwd: "/", platform: process.platform };
  return clientFile(client, places).replace(/^[/\\]h[/\\]/, "home/");
}

/** Writes a client's configuration file with one server `s` and these members. */
async function writeServer(desk: Desk, id: string, { args = [], env = {}, ...more }: ClientServer): Promise<void> {
  const client = CLIENTS.find((one) => one.id === id)!;
  const words = [desk.path("show.mjs"), ...args];
  const entry =
    id === "opencode"
      ? { type: "local", command: [process.execPath, ...words], environment: env, enabled: true, ...more }
      : { command: process.execPath, args: words, env, ...more };
  const tree = { [client.table]: { s: entry } };
  await desk.write(fileOf(id), client.form === "toml" ? stringify(tree) : JSON.stringify(tree));
}

interface ClientServer {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
}

async function shown(desk: Desk): Promise<unknown> {
  const { stdout, stderr } = await desk.run(["call", "s__show", "--json"], { env: SET });
  const result = JSON.parse(stdout || "{}") as { content?: readonly { text: string }[] };
  return JSON.parse(result.content?.[0]?.text ?? JSON.stringify({ stderr }));
}

async function connected(id: string, written: ClientServer, files: Readonly<Record<string, string>> = {}) {
  const desk = await Desk.create({ "show.mjs": SHOW, ...files });
  await writeServer(desk, id, written);
  const { code, stdout, stderr } = await desk.run(["connect", id, "--yes"], { env: SET });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { desk, stdout, rest: await readFile(desk.path(fileOf(id)), "utf8") };
}

describe("a server that `connect` moves receives the variables that its client set", () => {
  const LITERAL = "a$V b${V} c${env:V} d{env:V} e$${V} f${file:x} g$";
  test.each([
    ["claude", LITERAL, LITERAL],
    ["zed", LITERAL, LITERAL],
    ["lmstudio", LITERAL, LITERAL],
    ["codex", LITERAL, LITERAL],
    ["claude-code", "a$V b${V} c${env:V} d${UNSET:-or} e${EMPTY}.", "a$V bvalue c${env:V} dor e."],
    ["cursor", "a$V b${V} c${env:V} d${userHome}|${/}", "a$V b${V} cvalue d<home>|/"],
    ["vscode", "a$V b${V} c${env:V} d${env:UNSET}. e${pathSeparator}", "a$V b${V} cvalue d. e/"],
    ["vscode-insiders", "${env:V}${env:V}", "valuevalue"],
    ["windsurf", "a$V b${V} c${env:V} d${file:<home>/secret}", "a$V b${V} cvalue dtext"],
    ["gemini", "a$V b${V} c${env:V} d$UNSET e${UNSET:-or} f$1 g$", "avalue bvalue c${env:V} d$UNSET eor f$1 g$"],
    ["opencode", "a$V b${V} c{env:V} d{env:UNSET}. e{file:secret}", "a$V b${V} cvalue d. etext"],
    ["cline", "a$V b${V} c${env:V}", "a$V b${V} cvalue"],
    ["roo", "a$V b${V} c${env:V}", "a$V b${V} cvalue"],
    ["kiro", "a$V b${V} c${env:V}", "avalue bvalue cvalue"],
    ["amazonq", "a$V c${env:V} d${file:<home>/secret}", "avalue cvalue dtext"],
    ["copilot", "a$V b${V} d${UNSET:-or}", "avalue bvalue dor"],
  ])("%s: %j", async (id, written, expected) => {
    const desk = await Desk.create({
      "show.mjs": SHOW,
      "home/secret": "text\n",
      "home/.config/opencode/secret": "text\n",
    });
    await using _ended = desk;
    const at = (text: string): string => text.replaceAll("<home>", desk.path("home"));
    await writeServer(desk, id, { args: [at(written)], env: { X_A: at(written) } });
    const { code, stderr } = await desk.run(["connect", id, "--yes"], { env: SET });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await readFile(desk.path(fileOf(id)), "utf8")).not.toContain("show.mjs");
    expect(await shown(desk)).toEqual({ args: [at(expected)], env: { X_A: at(expected) } });
  });

  test("passes the variables of an `envFile`, which `env` overrides, with their literal text", async () => {
    const { desk } = await connected(
      "vscode",
      { envFile: "${userHome}/mcp.env", env: { X_B: "own" } },
      { "home/mcp.env": '\uFEFFX_A=one\nX_B=two # note\nexport X_C="${V} $V"\n' },
    );
    await using _ended = desk;
    expect(await shown(desk)).toEqual({ args: [], env: { X_A: "one", X_B: "own", X_C: "${V} $V" } });
  });

  test("translates headers of remote servers", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers);
      response.writeHead(404).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    await using desk = await Desk.create();
    const entry = { type: "remote", url, enabled: true, headers: { "X-Key": "{env:V}" } };
    await desk.write(fileOf("opencode"), JSON.stringify({ mcp: { a: entry } }));
    const headers = { "X-Key": "$V-${V}" };
    await desk.write(fileOf("gemini"), JSON.stringify({ mcpServers: { b: { httpUrl: url, headers } } }));
    for (const id of ["opencode", "gemini"]) await desk.run(["connect", id, "--yes"], { env: SET });
    await desk.run(["check"], { env: SET });
    server.close();
    expect(new Set(seen.map((one) => one["x-key"]))).toEqual(new Set(["value", "value-value"]));
  });
});

describe("leaves a server with references that only its client can resolve, and reports the reason", () => {
  test.each([
    ["vscode", "${workspaceFolder}/x", "it uses ${workspaceFolder}, which only VS Code can resolve"],
    ["vscode", "${command:pick}", "it uses ${command:pick}, which only VS Code can resolve"],
    ["vscode", "${config:my.setting}", "it uses ${config:my.setting}, which only VS Code can resolve"],
    ["cursor", "${workspaceFolderBasename}", "it uses ${workspaceFolderBasename}, which only Cursor can resolve"],
    ["vscode", "${input:key}", "it needs a value for KEY; set that variable"],
    ["claude-code", "${UNSET}", "it needs a value for UNSET; set that variable"],
    ["gemini", "$${V}", "it has a dollar sign directly before the reference ${V}"],
  ])("%s: %j", async (id, arg, reason) => {
    const { desk, stdout, rest } = await connected(id, { args: [arg] });
    await using _ended = desk;
    expect(stdout).toContain(reason);
    expect(rest).toContain("show.mjs");
  });
});

test("`import` names unset variables, and imports the server", async () => {
  await using desk = await Desk.create();
  const file = await desk.write(
    "claude.json",
    JSON.stringify({ mcpServers: { s: { command: "x", env: { A: "${NO}" } } } }),
  );
  const { stdout } = await desk.run(["import", file, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ servers: [{ alias: "s", variables: ["NO"] }], skipped: [] });
});

test("`import` of a named file uses the syntax implied by its table of servers", async () => {
  await using desk = await Desk.create({ "show.mjs": SHOW });
  const args = [desk.path("show.mjs"), "$V", "{env:V}"];
  const tables = {
    "gemini.json": { mcpServers: { s: { command: process.execPath, args }, r: { httpUrl: "http://127.0.0.1:9/x" } } },
    "opencode.json": { mcp: { s: { type: "local", command: [process.execPath, ...args], enabled: true } } },
  };
  const found: unknown[] = [];
  for (const [name, tree] of Object.entries(tables)) {
    await desk.write(name, JSON.stringify(tree));
    await desk.run(["import", name, "--write", "--yes", "--output", `${name}.toml`], { env: SET });
    const { stdout } = await desk.run(["call", "s__show", "--json", "--config", `${name}.toml`], { env: SET });
    const { content } = JSON.parse(stdout) as { content: readonly { text: string }[] };
    found.push((JSON.parse(content[0]!.text) as { args: unknown }).args);
  }
  expect(found).toEqual([
    ["value", "{env:V}"],
    ["$V", "value"],
  ]);
});

test("expands `~` to the home folder in command, arguments and folder of a server", async () => {
  await using desk = await Desk.create({ "home/bin/show.mjs": `#!/usr/bin/env node\n${SHOW}` });
  const server = { command: process.execPath, args: ["~/bin/show.mjs", "~", "a~", "--x=~/y"], cwd: "~/bin" };
  await desk.write("toolyard.toml", stringify({ mcp: { stdio_servers: { s: server } } }));
  const home = desk.path("home");
  expect(await shown(desk)).toEqual({ args: [home, "a~", "--x=~/y"], env: {} });
});

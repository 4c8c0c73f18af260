// Checks of the built command line on Windows. Runs on Windows and under Wine; writes one line for each
// check to standard output, or to the file in CHECKS_REPORT.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const MAIN = join(ROOT, "packages", "toolyard", "dist", "cli", "main.js");
const LIMIT_MS = 90_000;
const folder = mkdtempSync(join(tmpdir(), "toolyard-windows-"));
const env = {
  ...process.env,
  APPDATA: join(folder, "AppData"),
  LOCALAPPDATA: join(folder, "Local"),
  USERPROFILE: folder,
  HOME: folder,
};
const children = new Set();

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function script(name, { file, text, args = "[]" }) {
  write(
    `tools/${name}/tool.toml`,
    `name = "${name}"\ndescription = "A check"\nscript = "${file}"\nargs = ${args}\n` +
      `[parameters.text]\ntype = "string"\nrequired = true\n`,
  );
  write(`tools/${name}/${file}`, text);
}

/** Runs `toolyard …` until it exits. */
function toolyard(...args) {
  return new Promise((resolve) => {
    const options = { cwd: folder, env, timeout: LIMIT_MS, windowsHide: true };
    const child = execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr }),
    );
    child.stdin.end();
  });
}

async function succeeds(...args) {
  const { code, stdout, stderr } = await toolyard(...args);
  assert.equal(code, 0, `exit code ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** Starts `toolyard …`; `line` resolves with the next line of its output. */
function start(...args) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, windowsHide: true });
  children.add(child);
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return { child, send, line: async () => (await lines.next()).value };
}

async function ended({ child }) {
  if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
  children.delete(child);
}

/** Resolves with the answer to a request, ignoring earlier notifications. */
async function answer(client, request) {
  client.send(request);
  for (;;) {
    const message = JSON.parse(await client.line());
    if (message.id === request.id) return message;
  }
}

const INITIALIZE = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "checks", version: "1" } },
};

const SERVER = `import { createInterface } from "node:readline";
const reply = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: "s", version: "1" } });
  else if (method === "tools/list") reply(id, { tools: [{ name: "shout", inputSchema: { type: "object" } }] });
  else if (method === "tools/call")
    reply(id, { content: [{ type: "text", text: params.arguments.text.toUpperCase() }] });
  else if (id !== undefined) reply(id, {});
});
`;

function prepare() {
  const print = 'process.stdin.on("data", (data) => console.log(JSON.parse(data).text';
  script("plain", { file: "plain.mjs", text: `${print} + "!"));` });
  script("typed", { file: "typed.ts", text: `const end: string = "?"; ${print} + end));` });
  script("batch", { file: "batch.cmd", text: "@echo off\r\necho got %~1\r\n", args: '["{text}"]' });
  write(
    "modules/notes/mcp.mjs",
    `export const registerTools = (hub) => hub.registerTool("notes.add", ({ a }) => a + 1);`,
  );
  write("server.mjs", SERVER);
  const paths = '[scripts]\ntools_path = "tools"\n[modules]\npaths = ["modules"]\n';
  write("toolyard.toml", `${paths}[mcp.stdio_servers.far]\ncommand = ["node", "server.mjs"]\n[server]\nport = 0\n`);
  env.PATH = `${dirname(process.execPath)};${env.PATH ?? env.Path ?? ""}`;
}

const CHECKS = {
  "prints its version": async () => assert.match(await succeeds("--version"), /^\d+\.\d+\.\d+/),
  "lists tools of every source": async () => {
    const text = await succeeds("list");
    for (const name of ["plain", "typed", "batch", "notes.add"]) assert.match(text, new RegExp(`^${name}`, "m"));
  },
  "doctor finds Node and reports missing programs": async () => {
    const text = await succeeds("doctor");
    assert.match(text, /^node +yes/m);
    assert.match(text, /^platform +yes +win32/m);
  },
  "new writes a tool that runs": async () => {
    await succeeds("new", "words");
    assert.match(await succeeds("call", "words", "text=to be or not"), /4/);
  },
  "runs scripts in JavaScript and TypeScript": async () => {
    assert.equal((await succeeds("call", "plain", "text=a & b")).trim(), "a & b!");
    assert.equal((await succeeds("call", "typed", 'text=say "hi" %PATH%')).trim(), 'say "hi" %PATH%?');
  },
  "runs a batch file, and refuses text that cmd.exe could execute": async () => {
    assert.equal((await succeeds("call", "batch", "text=two words")).trim(), "got two words");
    for (const text of ["a&echo x>hacked", 'a" & echo x>hacked & "', "%PATH%", "a|more"]) {
      const { code, stderr } = await toolyard("call", "batch", `text=${text}`);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /^invalid_params: Argument `text` contains/);
    }
    assert.equal(existsSync(join(folder, "tools/batch/hacked")), false);
  },
  "calls a module": async () => assert.equal((await succeeds("call", "notes.add", "a:=41")).trim(), "42"),
  "calls a server on stdio": async () => assert.equal((await succeeds("call", "far__shout", "text=hi")).trim(), "HI"),
  "runs JavaScript and Python in the sandbox": async () => {
    assert.match(await succeeds("call", "execute_code", "language=javascript", "code=6*7"), /42/);
    assert.match(await succeeds("call", "execute_code", "language=python", "code=print(6*7)"), /42/);
  },
  "serves REST": async () => {
    const hub = start("serve", "--json");
    const { url } = JSON.parse(await hub.line());
    const base = url.replace(/\/mcp$/, "");
    assert.match(await (await fetch(`${base}/api/tools`)).text(), /"plain"/);
    assert.match(await (await fetch(base)).text(), /is an MCP endpoint/);
    const { result } = await (
      await fetch(`${base}/jsonrpc`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "notes.add", params: { a: 1 } }),
      })
    ).json();
    assert.equal(result, 2);
    hub.child.kill();
    await ended(hub);
  },
  "two clients share a hub through a named pipe": async () => {
    const clients = [start("serve", "--stdio", "--shared"), start("serve", "--stdio", "--shared")];
    for (const client of clients) {
      assert.ok((await answer(client, INITIALIZE)).result);
      client.send({ method: "notifications/initialized" });
      const call = { id: 2, method: "tools/call", params: { name: "notes.add", arguments: { a: 1 } } };
      assert.equal((await answer(client, call)).result.content[0].text, "2");
      client.child.stdin.end();
      await ended(client);
    }
  },
  "connects a client below %APPDATA%, and disconnects it": async () => {
    const file = join(env.APPDATA, "Code", "User", "mcp.json");
    mkdirSync(dirname(file), { recursive: true });
    const before = '{\n  "servers": {}\n}\n';
    writeFileSync(file, before);
    await succeeds("connect", "vscode", "--yes", "--config", join(folder, "toolyard.toml"));
    assert.ok(JSON.parse(readFileSync(file, "utf8")).servers.toolyard);
    await succeeds("disconnect", "vscode");
    assert.equal(JSON.parse(readFileSync(file, "utf8")).servers.toolyard, undefined);
  },
};

function report(line) {
  if (process.env.CHECKS_REPORT) appendFileSync(process.env.CHECKS_REPORT, `${line}\n`);
  else process.stdout.write(`${line}\n`);
}

prepare();
const startedAt = performance.now();
let failed = 0;
/** Arguments of the command line select checks by name. */
const words = process.argv.slice(2);
const isWine = process.env.CHECKS_REPORT !== undefined;
const wanted = Object.entries(CHECKS).filter(
  ([name]) =>
    (words.length === 0 || words.some((word) => name.includes(word))) &&
    // Under Wine, the script that started this one is the client of this check.
    !(isWine && name === "serves REST"),
);
for (const [name, check] of wanted) {
  const began = performance.now();
  const took = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  try {
    await check();
    report(`passed: ${name} (${took()})`);
  } catch (error) {
    failed += 1;
    report(`FAILED: ${name} (${took()}): ${error.message} ${error.cause?.message ?? ""}`);
  }
}
for (const child of children) child.kill("SIGKILL");
const seconds = Math.round((performance.now() - startedAt) / 1000);
report(`${wanted.length - failed} passed, ${failed} failed in ${seconds} s`);
rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
process.exit(failed === 0 ? 0 : 1);

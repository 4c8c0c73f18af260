// Output at a terminal: the built command line on a real pseudo terminal, created by Python's `pty`.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { startModels } from "../agent/stand-in.ts";
import { Desk, exitOf, MAIN, seen, textOf } from "./harness.ts";

const PYTHON = "python3";
const canPty = process.platform !== "win32" && spawnSync(PYTHON, ["-c", "import pty, fcntl, termios"]).status === 0;

beforeEach(({ skip }) => skip(!canPty, "not on this platform"));

/**
 * Runs a command on a terminal with a number of columns, and copies its output to standard output. Presses Ctrl+C after
 * a given output, or when standard input ends.
 */
const ON_TERMINAL = `import fcntl, os, pty, select, struct, sys, termios
columns, until, command = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
seen = b""
sources = [terminal, 0]
while True:
    ready = select.select(sources, [], [])[0]
    if 0 in ready and not os.read(0, 65536):
        sources.remove(0)
        os.write(terminal, b"\\x03")
    if terminal not in ready:
        continue
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
    seen += piece
    if until and until in seen:
        os.write(terminal, b"\\x03")
        until = b""
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`;

const SERVER = `const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const late = (run) => setTimeout(run, 1500);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") return late(() => send({ id, result: { protocolVersion: "2025-06-18",
    capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } }));
  const tools = [{ name: "work", inputSchema: { type: "object" } }];
  if (method === "tools/list") return send({ id, result: { tools } });
  if (method !== "tools/call") return id === undefined || send({ id, result: {} });
  const { progressToken } = params._meta ?? {};
  const message = "page 一\\u001b[2J";
  send({ method: "notifications/progress", params: { progressToken, progress: 1, total: 4, message } });
  if (params.arguments.ends === "yes")
    late(() => send({ id, result: { content: [{ type: "text", text: "done" }] } }));
});`;

async function desk(): Promise<Desk> {
  return Desk.create({
    "s.cjs": SERVER,
    "toolyard.toml": '[mcp.stdio_servers.slow]\ncommand = ["node", "s.cjs"]\n',
  });
}

interface TerminalOutput {
  readonly code: number | null;
  readonly text: string;
}

async function onTerminal(
  at: Desk,
  args: readonly string[],
  { columns = 100, until = "", env = {} } = {},
): Promise<TerminalOutput> {
  const command = [PYTHON, "-c", ON_TERMINAL, String(columns), until, process.execPath, MAIN, ...args];
  const child = at.startCommand(command, { env: { TERM: "xterm-256color", ...env } });
  const [text, code] = await Promise.all([textOf(child.stdout!), exitOf(child)]);
  return { code, text };
}

/** Starts a hub on a terminal that runs until `child.stdin` is ended. */
async function servingOnTerminal(at: Desk, args: readonly string[], columns = 100) {
  const command = [PYTHON, "-c", ON_TERMINAL, String(columns), "", process.execPath, MAIN, "serve", "-y"];
  const child = at.startCommand([...command, "--port", "0", ...args], {
    env: { TERM: "xterm-256color", NO_COLOR: "1" },
  });
  let shown = "";
  child.stdout!.on("data", (chunk) => (shown += String(chunk)));
  const text = once(child.stdout!, "end").then(() => shown);
  const [, url] = await seen(child.stdout!, /(http:\/\/127\.0\.0\.1:\d+\/mcp)\s[\s\S]*Ctrl\+C/);
  return { child, text, url: url! };
}

function widest(text: string): number {
  const lines = stripVTControlCharacters(text).split(/\r*\n|\r/);
  return Math.max(...lines.map((line) => line.length));
}

// oxlint-disable-next-line no-control-regex -- They are control characters that are looked for.
const [PAINT, CLEARED] = [/\u001b\[[\d;]*m/g, /\u001b\[1G\u001b\[0J$/];
const HIDE = "\u001b[?25l";
const SHOW = "\u001b[?25h";

test("check draws a line for each starting source, and leaves only its table, with a visible cursor", async () => {
  await using at = await desk();
  const { code, text } = await onTerminal(at, ["check", "-y"]);
  expect(code).toBe(0);
  expect(text).toContain("slow: starting");
  expect(text.lastIndexOf(SHOW)).toBeGreaterThan(text.lastIndexOf(HIDE));
  expect(text.slice(text.lastIndexOf(SHOW))).toMatch(/slow +stdio +1 /);
  expect(text.slice(text.lastIndexOf(SHOW))).not.toContain("starting");
});

test("`call` draws progress as a bar, with or without colour, without control sequences of the tool", async () => {
  await using at = await desk();
  const env = { NO_COLOR: "1" };
  const { code, text } = await onTerminal(at, ["call", "-y", "slow__work", "ends=yes"], { env });
  expect(code).toBe(0);
  expect(text).toMatch(/slow__work: running █████░{15} 25 %.*page 一/);
  expect(text).not.toContain("\u001b[2J");
  expect(text).not.toContain("\u001b[3");
  expect(text.trimEnd()).toMatch(/done$/);
});

test("no line is wider than a narrow terminal; a dumb terminal gets no redraws", async () => {
  await using at = await desk();
  const env = { NO_COLOR: "1" };
  const narrow = await onTerminal(at, ["call", "-y", "slow__work", "ends=yes"], { columns: 40, env });
  expect(narrow.text).toContain("slow__work: running 25 %");
  const dumb = await onTerminal(at, ["call", "-y", "slow__work", "ends=yes"], { env: { TERM: "dumb" } });
  expect(dumb.text).not.toContain("\u001b");
  expect(dumb.text).toContain("progress: 1 of 4 page 一");
});

test("serve shows a call as one line, also on a narrow terminal; with --quiet none, but logs it at info", async () => {
  for (const quiet of [false, true]) {
    await using at = await Desk.create({ "toolyard.toml": "[builtin]\nserver_logs = true\n" });
    const { child, text, url } = await servingOnTerminal(at, quiet ? ["--quiet"] : [], 40);
    expect((await at.run(["call", "meta.ping", "--url", url])).code).toBe(0);
    const { stdout: log } = await at.run(["call", "meta.get_server_logs", "--url", url]);
    expect(log).toMatch(/INFO +A call is done\. .*target=meta\.ping/);
    child.stdin!.end();
    const shown = (await text).slice((await text).indexOf("Ctrl+C")).split(/\r?\n/);
    expect(shown.filter((line) => /^(?:\S+ {2})?\S+ {2}meta\.ping {2}.+ {2}ok$/.test(line))).toHaveLength(
      quiet ? 0 : 1,
    );
    expect(shown.join("\n")).not.toContain("A call is done.");
  }
});

test("serve shows a banner without log lines below warning, unless --verbose is set", async () => {
  await using at = await desk();
  const shown = async (...args: string[]): Promise<string> => {
    const { text } = await onTerminal(at, ["serve", "-y", "--port", "0", ...args], { until: "Ctrl+C ends it." });
    return stripVTControlCharacters(text).split("Ctrl+C ends it.")[0]!;
  };
  const quiet = await shown();
  expect(quiet).not.toMatch(/ (?:INFO|DEBUG) /);
  expect(quiet).toMatch(/^curl -s http:\S+\/api\/tools\r?$/m);
  expect(quiet).toMatch(/ connect --config \S+\r?$/m);
  expect(await shown("-v")).toMatch(/ INFO /);
});

test("serve ends when its terminal is closed", async () => {
  await using at = await desk();
  const { child, url } = await servingOnTerminal(at, []);
  const { stdout } = await at.run(["call", "slow__work", "ends=yes", "--url", url]);
  expect(stdout).toContain("done");
  child.kill("SIGKILL");
  await expect
    .poll(
      () =>
        fetch(url).then(
          () => "there",
          () => "gone",
        ),
      { timeout: 60_000 },
    )
    .toBe("gone");
});

test("services shows each address complete on a narrow terminal, with and without colour", async () => {
  await using at = await desk();
  for (const env of [{ NO_COLOR: "1" }, {}]) {
    const args = ["services", "datetime", "geocoding", "--port", "0"];
    const { code, text } = await onTerminal(at, args, { columns: 40, until: "Ctrl+C", env });
    expect(code).toBe(0);
    expect(text.match(/http:\/\/127\.0\.0\.1:\d+\/mcp\b/g)).toHaveLength(2);
    expect(widest(text)).toBeLessThanOrEqual(40);
    expect(text.includes("\u001b[1m")).toBe(env.NO_COLOR === undefined);
  }
});

test("import on a narrow terminal has no line that breaks its table", async () => {
  await using at = await desk();
  const servers = { memory: { command: "npx", args: ["-y", "memory"] }, remote: { url: "https://tools.example/mcp" } };
  await at.write("home/.cursor/mcp.json", JSON.stringify({ mcpServers: servers }));
  const { code, text } = await onTerminal(at, ["import"], { columns: 40, env: { NO_COLOR: "1" } });
  expect(code).toBe(0);
  const rows = text.split(/\r?\n/).filter((line) => /^(?:server|memory|remote|─)/.test(line));
  expect(rows.map((row) => row.slice(0, 6))).toEqual(["server", "──────", "memory", "remote"]);
  expect(widest(rows.join("\n"))).toBeLessThanOrEqual(40);
});

test("chat never exceeds a narrow terminal: progress, calls, tokens", async () => {
  await using at = await desk();
  const models = await startModels();
  try {
    models.say([{ calls: [{ name: "slow__work", arguments: { ends: "yes" } }] }, { text: "It works." }]);
    const env = { MISTRAL_API_KEY: "stand-in-key", MISTRAL_BASE_URL: `${models.url}/mistral` };
    const words = ["chat", "-y", "--model", "mistral/any", "--once", "Does it work?"];
    const { code, text } = await onTerminal(at, words, { columns: 40, env });
    const shown = stripVTControlCharacters(text);
    expect(code, shown).toBe(0);
    expect(shown).toContain("slow__work: running 25 %");
    expect(shown).toMatch(/It works\.\s+[\d,]+ tokens read/);
    expect(widest(text)).toBeLessThanOrEqual(40);
  } finally {
    await models.close();
  }
});

test("chat shows on a narrow terminal that the model is thinking", async () => {
  await using at = await desk();
  const models = await startModels([{ hangs: true }]);
  try {
    const env = { MISTRAL_API_KEY: "stand-in-key", MISTRAL_BASE_URL: `${models.url}/mistral` };
    const words = ["chat", "-y", "--model", "mistral/any", "--once", "Does it work?"];
    const { text } = await onTerminal(at, words, { columns: 40, env, until: "thinking" });
    expect(stripVTControlCharacters(text)).toContain("model: thinking");
    expect(widest(text)).toBeLessThanOrEqual(40);
  } finally {
    await models.close();
  }
});

test("prints log lines above the line that a user is typing in a chat, and redraws that line", async () => {
  await using at = await Desk.create({ "toolyard.toml": '[mcp.stdio_servers.bad]\ncommand = ["node", "-e", ""]\n' });
  const words = [process.execPath, MAIN, "chat", "-y", "--model", "mistral/any"];
  const child = at.startCommand([PYTHON, "-c", ON_TERMINAL, "100", "C again", ...words], {
    env: { TERM: "xterm-256color", MISTRAL_API_KEY: "stand-in-key" },
  });
  const text = textOf(child.stdout!);
  await seen(child.stdout!, /exit code 0[\s\S]*\n[^\n]*> [^\n]*$/);
  child.stdin!.end();
  expect(await exitOf(child)).toBe(0);
  const uncoloured = (await text).replaceAll(PAINT, "");
  expect(uncoloured.split(/\d{4}-\d\d-\d\dT/)[0]).toMatch(CLEARED);
});

test("Ctrl+C during a call restores the cursor", async () => {
  await using at = await desk();
  const { code, text } = await onTerminal(at, ["call", "-y", "slow__work", "ends=no"], { until: "25 %" });
  expect(code).toBe(130);
  expect(text).toContain(HIDE);
  expect(text.lastIndexOf(SHOW)).toBeGreaterThan(text.lastIndexOf(HIDE));
});

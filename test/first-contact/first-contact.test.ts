import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parse as parseToml } from "smol-toml";
import { expect, test } from "vitest";
import { NpmRegistry, serverPackages } from "../fixtures/installs/npm-registry.ts";
import { gone, isAlive } from "../cli/harness.ts";
import { SERVER } from "../cli/small-server.ts";
import { InstallYard, LONG, type CheckedSource } from "../installs/yard.ts";

/** Configuration of three clients on a machine without Toolyard: ten servers, and their faults. */
const CLAUDE = {
  notes: { command: "npx", args: ["-y", "notes-server"] },
  memory: { command: "npx", args: ["-y", "@ours/memory-server"] },
  time: { command: "uvx", args: ["time-server"] },
  issues: { command: "docker", args: ["run", "-i", "--rm", "-e", "TOKEN", "issues-server"] },
};
const CURSOR = {
  // The same entry as that of the first client.
  memory: { command: "npx", args: ["-y", "@ours/memory-server"] },
  plan: { command: "npx", args: ["-y", "plan-server"] },
  fetch: { command: "uvx", args: ["--from", "fetch-server", "run-fetch"] },
  // No server listens at this address.
  remote: { url: "http://127.0.0.1:9/mcp" },
};
const CODEX = `[mcp_servers.local]
command = "node"
args = ["SERVER"]
[mcp_servers.broken]
command = "npx"
args = ["-y", "nobody-made-this"]
`;

const GOOD = ["fetch", "issues", "local", "memory", "notes", "plan", "time"];
const FILES = {
  claude: "home/.config/Claude/claude_desktop_config.json",
  cursor: "home/.cursor/mcp.json",
  codex: "home/.codex/config.toml",
};

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

/** Returns the entry in the client's file. */
async function entryOf(yard: InstallYard, id: keyof typeof FILES): Promise<Entry> {
  const text = await readFile(yard.desk.path(FILES[id]), "utf8");
  const tree = (id === "codex" ? parseToml(text) : JSON.parse(text)) as Record<string, Record<string, Entry>>;
  return tree[id === "codex" ? "mcp_servers" : "mcpServers"]!["toolyard"]!;
}

/** Starts the command that the client's file names, as that client would. */
async function open(yard: InstallYard, { command, args, env = {} }: Entry): Promise<Client> {
  const client = new Client({ name: "client", version: "1" });
  const transport = new StdioClientTransport({
    command,
    args: [...args, "--linger", "1500ms"],
    env: { HOME: yard.home, PATH: yard.env["PATH"] ?? "", ...env },
    cwd: "/",
    stderr: "ignore",
  });
  await client.connect(transport, LONG);
  return client;
}

/** Resolves with the server's process id once the client lists its tool; a starting server is not listed. */
async function pidOf(client: Client, name: string): Promise<number> {
  const answer = await client.callTool({ name: `${name}__pid`, arguments: {} }, undefined, LONG);
  return Number((answer.content as { text: string }[])[0]?.text);
}

/** Returns running processes of this home. */
function running(yard: InstallYard): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${yard.home}\0`);
    } catch {
      return false;
    }
  });
}

async function furnish(yard: InstallYard): Promise<void> {
  const server = await yard.desk.write("server.mjs", SERVER);
  await yard.desk.write(FILES.claude, JSON.stringify({ mcpServers: CLAUDE }));
  await yard.desk.write(FILES.cursor, JSON.stringify({ mcpServers: CURSOR }));
  await yard.desk.write(FILES.codex, CODEX.replace("SERVER", server));
}

test("moves ten servers of three clients to one hub at the first attempt, with cold caches", LONG, async () => {
  const packages = ["notes-server", "@ours/memory-server", "plan-server"].flatMap(serverPackages);
  await using registry = await NpmRegistry.start(packages);
  await using yard = await InstallYard.create(registry.npmrc());
  await furnish(yard);
  const { env } = yard;

  const imported = await yard.desk.run(["import", "--write", "--yes"], { env });
  expect(imported.code, imported.stderr).toBe(0);
  const checked = await yard.check();
  expect(Object.keys(checked).toSorted()).toEqual(["broken", "builtin", ...GOOD, "remote"].toSorted());
  expect(GOOD.map((id) => [id, checked[id]?.lastError ?? checked[id]?.state])).toEqual(GOOD.map((id) => [id, "ready"]));
  expect(registry.downloads.toSorted()).toEqual(packages.map(({ name }) => name).toSorted());
  expect(advice(checked["broken"])).toMatch(/could not be downloaded.*There is no such package/);
  expect(advice(checked["remote"])).toMatch(/refused the connection\. Start the server, or correct `url`/);

  const ids = ["claude", "cursor", "codex"] as const;
  for (const id of ids) {
    const connected = await yard.desk.run(["connect", id, "--yes"], { env });
    expect(connected.code, connected.stderr).toBe(0);
  }
  const [first, second, third] = await Promise.all(ids.map(async (id) => open(yard, await entryOf(yard, id))));
  const children = await Promise.all(GOOD.map((name) => pidOf(first!, name)));
  expect(await Promise.all(GOOD.map((name) => pidOf(second!, name)))).toEqual(children);
  expect(await pidOf(third!, "local")).toBe(children[GOOD.indexOf("local")]);
  await first!.close();
  expect(await Promise.all(GOOD.map((name) => pidOf(second!, name)))).toEqual(children);
  expect(children.every(isAlive)).toBe(true);
  await Promise.all([second!.close(), third!.close()]);
  await Promise.all(children.map(gone));
  await expect.poll(() => running(yard), { timeout: 300_000 }).toEqual([]);
});

function advice(checked: CheckedSource | undefined): string {
  return checked?.lastError ?? "";
}

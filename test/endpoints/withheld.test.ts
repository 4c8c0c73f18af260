import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { ToolFolder } from "../support/tool-folder.ts";

let folder: ToolFolder;
let hub: LibraryHub | undefined;
let warnings: string[];

beforeEach(() => {
  folder = new ToolFolder();
  warnings = [];
});
afterEach(async () => {
  await hub?.close();
  hub = undefined;
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

const logger: Logger = {
  debug: () => {},
  info: () => {},
  warning: (message) => void warnings.push(message),
  error: () => {},
  with: () => logger,
};

async function start(scripts: HubConfig["scripts"] = {}, more: HubConfig = {}): Promise<LibraryHub> {
  hub = await createHub({
    variables: {},
    logger,
    settings: { scripts: { tools_path: folder.path, ...scripts }, ...more },
  });
  return hub;
}

async function wordsFor(name: string): Promise<string> {
  const outcome = await hub!.call(name, {});
  return outcome.ok ? "" : `${outcome.kind}: ${outcome.message}`;
}

/** Returns the error text that a modern client with this token receives for a call of the tool. */
async function toldOnMcp(token: string, tool: string): Promise<string> {
  const served = await hub!.serveFetch();
  const answer = await served.fetch(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: tool,
          arguments: {},
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          },
        },
      }),
    }),
  );
  return answer.text();
}

describe("a tool that is not offered", () => {
  test("reports the reason that its source knows: a bad manifest, an option, a pinned digest", async () => {
    folder.script("lost", "tool.sh", "echo");
    folder.remove("lost/tool.sh");
    folder.write("torn/tool.toml", 'name = "torn\n');
    folder.script("left", "tool.sh", "echo");
    folder.script("pinned", "tool.sh", "echo");
    folder.script("fine", "tool.sh", "echo");
    await start({ exclude: ["left"], pins: { pinned: "" } });
    expect(await wordsFor("lost")).toBe(
      "unknown_tool: Unknown tool: lost. It is not offered because `script` names `tool.sh`, which is not there.",
    );
    expect(await wordsFor("torn")).toMatch(/^unknown_tool: Unknown tool: torn\. It is not offered because .*line 1/);
    expect(await wordsFor("left")).toContain("because `include` and `exclude` of the source scripts leave it out.");
    expect(await wordsFor("pinned")).toContain("because `pins` approves nothing yet");
    expect(await wordsFor("fine")).toBe("");
    expect(await wordsFor("nothing")).not.toContain("not offered");
  });

  test("is reported through execute_tool too, after the standard text of that tool", async () => {
    folder.write("torn/tool.toml", 'name = "torn"\nscript = "x.sh"\n');
    await start();
    const outcome = await hub!.call("execute_tool", { name: "torn" });
    expect(outcome).toMatchObject({ ok: false, kind: "tool_error" });
    expect(JSON.stringify(outcome)).toContain(
      "Tool not found: torn. Use tool_search to discover available tools. It is not offered because `description` is",
    );
    expect(JSON.stringify(await hub!.call("execute_tool", { name: "nothing" }))).not.toContain("not offered");
  });

  test("an unset variable of `pass` withholds a tool; one that is set or marked with `?` does not", async () => {
    folder.script("gauge", "tool.sh", "echo $TIDE_KEY", '[env]\npass = ["TIDE_KEY"]\n');
    folder.script("buoy", "tool.sh", "echo ${TIDE_KEY:-none}", '[env]\npass = ["TIDE_KEY?"]\n');
    folder.script("own", "tool.sh", "echo $TIDE_KEY", '[env]\nTIDE_KEY = "mine"\npass = ["TIDE_KEY"]\n');
    vi.stubEnv("TIDE_KEY", undefined);
    await start();
    const names = async (): Promise<unknown> => (await hub!.list()).map(({ name }) => name);
    expect(await names()).toEqual(expect.not.arrayContaining(["gauge"]));
    expect(await wordsFor("gauge")).toMatch(
      /^unknown_tool: Unknown tool: gauge\..* because `env\.pass` names `TIDE_KEY`, not set where the hub runs; set it/,
    );
    expect(warnings).toContainEqual(expect.stringContaining("gauge is not offered: `env.pass` names `TIDE_KEY`"));
    expect([await wordsFor("buoy"), await wordsFor("own")]).toEqual(["", ""]);
    vi.stubEnv("TIDE_KEY", "a-key");
    expect(await names()).toEqual(expect.arrayContaining(["gauge"]));
    const outcome = await hub!.call("gauge", {});
    expect(outcome).toMatchObject({ ok: true, result: { content: [{ text: "a-key" }] } });
  });

  test("stays listed if its interpreter is missing, and a call names the missing interpreter", async () => {
    folder.script("gem", "main.rb", "#!/usr/bin/env no-such-ruby\nputs 1");
    folder.write("mill/grind/grind.mcp.json", '{"name": "grind", "description": "d", "input_schema": {}}');
    folder.write("mill/grind/grind.py", "def execute(params):\n    return 1\n");
    vi.stubEnv("PATH", folder.path);
    await start({}, { folders: { tools_path: `${folder.path}/mill` } });
    expect((await hub!.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(["gem", "grind"]));
    expect(await wordsFor("gem")).toMatch(/^unavailable: .*`no-such-ruby` was not found/);
    expect(await wordsFor("grind")).toMatch(/^unavailable: .*`python3` was not found/);
  });

  test("a required sign-in is reported under the tool's last known name, and to no other caller", async () => {
    await using auth = await startAuthServer();
    await using server = await startProtected(auth);
    vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
    hub = await createHub({
      variables: { TOOLYARD_HOME: `${folder.path}/home` },
      logger,
      settings: { mcp: { remote_servers: [{ namespace: "far", url: server.url }] } },
    });
    await expect
      .poll(async () => (await hub!.list()).map(({ name }) => name))
      .toEqual(expect.arrayContaining(["far__sign_in"]));
    const wanted = /^needs_authorisation: `far` is not signed in to\..*toolyard login far/;
    for (const name of ["far__echo", "far::echo", "far.echo"]) expect(await wordsFor(name)).toMatch(wanted);
    expect(JSON.stringify(await hub.call("execute_tool", { name: "far__echo" }))).toContain("toolyard login far");
    expect(await wordsFor("near__echo")).toMatch(/^unknown_tool: /);
  });

  test("is reported under the name in its manifest, even if the folder has another name", async () => {
    folder.write("mailer/tool.toml", 'name = "send_note"\ndescription = "Sends"\nscript = "gone.sh"\n');
    folder.write("poster/tool.toml", 'name = "post_note"\nscript = "tool.sh"\n');
    await start();
    expect(await wordsFor("send_note")).toContain("not offered because `script` names `gone.sh`");
    expect(await wordsFor("post_note")).toContain("not offered because `description` is missing");
    expect(await wordsFor("call_note")).not.toContain("not offered");
  });

  test("is reported on MCP to a caller with all rights, and to no caller with narrow rights", async () => {
    folder.script("lost", "tool.sh", "echo");
    folder.remove("lost/tool.sh");
    const tokens = { all: { token: "all-rights" }, some: { token: "some-rights", allow: ["fine*"] } };
    await start({}, { server: { port: 0, tokens } });
    expect(await toldOnMcp("all-rights", "lost")).toContain(
      "Unknown tool: lost. It is not offered because `script` names `tool.sh`, which is not there.",
    );
    const narrowed = await toldOnMcp("some-rights", "lost");
    expect(narrowed).toContain("lost");
    expect(narrowed).not.toContain("tool.sh");
  });

  test("names the setting that enables a disabled source, for each spelling", async () => {
    const asleep = { command: ["node"], enabled: false };
    await start({}, { mcp: { stdio_servers: { notes: asleep, plain: { ...asleep, namespace: "" } } } });
    const told = "It is not offered because the source notes is disabled: `toolyard enable notes` switches it on.";
    for (const name of ["notes__add", "notes::add", "notes.add"])
      expect(await wordsFor(name)).toBe(`unknown_tool: Unknown tool: ${name}. ${told}`);
    expect(await wordsFor("plain__add")).toContain("`toolyard enable plain`");
    expect(JSON.stringify(await hub!.call("execute_tool", { name: "notes__add" }))).toContain(told);
    expect(await wordsFor("others__add")).not.toContain("disabled");
    expect(await wordsFor("add")).not.toContain("disabled");
  });

  test("hides a disabled source from a caller without the right to the name", async () => {
    const tokens = {
      all: { token: "all-rights" },
      some: { token: "some-rights", allow: ["fine*"] },
      others: { token: "all-but-others", deny: ["others__*"] },
      reader: { token: "reading-rights", read_only: true },
      own: { token: "own-rights", allow: ["notes__*"] },
    };
    const mcp = { stdio_servers: { notes: { command: ["node"], enabled: false } } };
    await start({}, { mcp, server: { port: 0, tokens } });
    const told = "`toolyard enable notes`";
    expect(await toldOnMcp("all-rights", "notes__add")).toContain(told);
    expect(await toldOnMcp("own-rights", "notes__add")).toContain(told);
    for (const { token } of [tokens.some, tokens.others, tokens.reader]) {
      const [there, nowhere] = await Promise.all(["notes__add", "poems__add"].map((name) => toldOnMcp(token, name)));
      expect(there!.replaceAll("notes", "poems")).toBe(nowhere);
    }
  });

  test("logs the refusal of a manifest once", async () => {
    folder.script("fine", "tool.sh", "echo");
    await start();
    await hub!.list();
    expect(warnings.join("\n")).not.toContain("not offered");
    folder.write("torn/tool.toml", 'name = "torn\n');
    await hub!.list();
    await hub!.list();
    expect(warnings.filter((line) => line.includes("torn/tool.toml is not offered: "))).toHaveLength(1);
    folder.write("torn/tool.toml", 'nothing = "here"\n');
    await hub!.list();
    expect(warnings.filter((line) => line.includes("torn/tool.toml is not offered: "))).not.toHaveLength(1);
  });
});

// Document T, step by step, with other tools: those of a harbour.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HubConfig } from "../../../packages/toolyard/src/index.ts";
import { startTools } from "../tool-server.ts";
import type { RunningServer } from "../../fixtures/http-servers.ts";
import type { McpSession, SessionOptions } from "../mcp-session.ts";
import { Yard } from "../yard.ts";

let yard: Yard;
const servers: RunningServer[] = [];

beforeEach(() => void (yard = new Yard()));
afterEach(async () => {
  await yard[Symbol.asyncDispose]();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const DISCOVERY = { "X-MCP-Tool-Mode": "discovery" };
const ONDEMAND = 'visibility = "ondemand"\n';

async function open(settings: HubConfig = {}, options: SessionOptions = {}): Promise<McpSession> {
  await yard.open({ scripts: { tools_path: yard.path("tools") }, ...settings });
  return yard.mcp(options);
}

/** Starts a remote server with one tool that requires this token. */
async function elsewhere(tool: string, token: string): Promise<RunningServer> {
  const server = await startTools({ [tool]: ({ ship }) => ({ ship }) }, { token });
  servers.push(server);
  return server;
}

describe("added, changed and removed tools", () => {
  test("T2, T3, T4, T5: the next request reflects each change", async () => {
    const client = await open();
    expect(await client.names()).toEqual([]);
    yard.script("bell", "", "echo one stroke");
    expect(await client.names()).toEqual(["bell"]);
    expect(await client.text("bell")).toBe("one stroke");
    yard.script("bell", '[parameters.strokes]\ntype = "number"\nrequired = true\n', "echo many strokes");
    expect((await client.tools())[0]!["inputSchema"]).toMatchObject({ required: ["strokes"] });
    expect(await client.text("bell", { strokes: 8 })).toBe("many strokes");
    yard.folder.remove("tools/bell");
    expect(await client.names()).toEqual([]);
    expect((await client.call("bell", { strokes: 8 })).error?.message).toContain("Unknown tool: bell");
  });

  test("T6, T7, T28: the next request reflects visibility, description, keywords, and discovery tools", async () => {
    yard.script("buoy");
    const client = await open();
    expect(await client.names()).toEqual(["buoy"]);
    yard.script("buoy", `${ONDEMAND}keywords = ["whistle"]\n`);
    expect(await client.names()).toEqual(["execute_tool", "tool_search"]);
    expect(await client.search("whistle")).toEqual(["buoy"]);
    yard.script("buoy", `${ONDEMAND}keywords = ["lantern"]\n`);
    expect(await client.matches("whistle")).toEqual([]);
    expect(await client.search("lantern")).toEqual(["buoy"]);
    yard.folder.write(
      "tools/buoy/tool.toml",
      'name = "buoy"\ndescription = "Marks the fairway"\nscript = "run.sh"\nvisibility = "native"\n',
    );
    const [buoy, ...others] = await client.tools();
    expect([buoy!["description"], others]).toEqual(["Marks the fairway", []]);
  });

  test("T33: one scan serves both kinds; without an ondemand tool there are no discovery tools", async () => {
    yard.script("bell");
    yard.script("crane", ONDEMAND);
    const client = await open();
    expect(await client.names()).toEqual(["bell", "execute_tool", "tool_search"]);
    yard.script("bell", ONDEMAND);
    yard.script("crane");
    expect(await client.names()).toEqual(["crane", "execute_tool", "tool_search"]);
    yard.folder.remove("tools/bell");
    expect(await client.names()).toEqual(["crane"]);
  });

  test("T34: each concurrent request during changes has a complete answer", async () => {
    yard.script("bell", "", "cat");
    const client = await open();
    const asked = Array.from({ length: 24 }, async (_, at) => {
      if (at % 6 === 0) yard.script(`crane${at}`, at % 12 === 0 ? ONDEMAND : "");
      if (at % 3 === 0) return (await client.names()).includes("bell");
      return (await client.text("bell", { at })) === JSON.stringify({ at });
    });
    expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
  });
});

describe("the manifest", () => {
  const GAUGE = `keywords = ["water", "tide"]
[parameters.harbour]
type = "string"
description = "Where"
required = true
[parameters.depth]
type = "number"
description = "In fathoms"
[parameters.loud]
type = "boolean"
required = false
`;

  test("T8, T35: lists types and required parameters, and checks them at each call", async () => {
    yard.script("gauge", GAUGE, "cat");
    const client = await open();
    expect((await client.tools())[0]!["inputSchema"]).toMatchObject({
      type: "object",
      properties: {
        harbour: { type: "string", description: "Where" },
        depth: { type: "number", description: "In fathoms" },
        loud: { type: "boolean" },
      },
      required: ["harbour"],
    });
    const given = { harbour: "Brest", depth: 3.5, loud: false };
    expect(JSON.parse(await client.text("gauge", given))).toEqual(given);
    for (const [wrong, named] of [
      [{}, "harbour"],
      [{ harbour: 5 }, "harbour"],
      [{ harbour: "Brest", depth: "deep" }, "depth"],
      [{ harbour: "Brest", loud: "very" }, "loud"],
    ] as const)
      expect(JSON.stringify(await client.call("gauge", wrong))).toContain(named);
  });

  test("T9, T10, T11, T36: excludes only the incomplete, unreadable or misplaced tool", async () => {
    yard.script("bell");
    for (const [name, text] of [
      ["nameless", 'description = "d"\nscript = "run.sh"\n'],
      ["undescribed", 'name = "undescribed"\nscript = "run.sh"\n'],
      ["scriptless", 'name = "scriptless"\ndescription = "d"\n'],
      ["torn", 'name = "torn\n'],
      ["shy", 'name = "shy"\ndescription = "d"\nscript = "run.sh"\nvisibility = "sometimes"\n'],
    ] as const) {
      yard.folder.write(`tools/${name}/tool.toml`, text);
      yard.folder.write(`tools/${name}/run.sh`, "cat", 0o755);
    }
    yard.folder.write("attic/lamp/tool.toml", 'name = "lamp"\ndescription = "d"\nscript = "run.sh"\n');
    const client = await open();
    expect(await client.names()).toEqual(["bell"]);
    expect(await client.matches("lamp")).toEqual([]);
    const told = yard.hub.sources().flatMap(({ problems }) => problems.map(({ subject }) => subject));
    const missed = ["nameless", "scriptless", "shy", "torn", "undescribed"];
    expect([...new Set(told)].toSorted()).toEqual(missed.map((name) => `${name}/tool.toml`));
  });

  test("T14: the specified two examples work with other values", async () => {
    yard.folder.write(
      "tools/calculator/calculator.py",
      `import json, sys
given = json.load(sys.stdin)
made = {"add": given["a"] + given["b"], "divide": given["a"] / given["b"]}
print(json.dumps({"result": made[given["operation"]]}))
`,
    );
    yard.folder.write("tools/calculator/tool.toml", CALCULATOR);
    yard.folder.write("tools/email_sender/send_email.py", 'import sys\nprint("sent " + sys.stdin.read())\n');
    yard.folder.write("tools/email_sender/tool.toml", SEND_EMAIL);
    const client = await open();
    expect(await client.names()).toEqual(["calculator", "execute_tool", "tool_search"]);
    expect(JSON.parse(await client.text("calculator", { operation: "divide", a: 9, b: 4 }))).toEqual({ result: 2.25 });
    expect((await client.call("calculator", { operation: "add", a: 9 })).result?.["isError"]).toBe(true);
    expect(await client.search("smtp")).toEqual(["send_email"]);
    const mail = { to: "pilot@harbour.test", subject: "Tide", body: "It ebbs." };
    expect(await client.text("execute_tool", { name: "send_email", arguments: mail })).toContain("pilot@harbour.test");
    expect(await client.text("send_email", mail)).toContain("It ebbs.");
  });
});

const CALCULATOR = `name = "calculator"
description = "Perform calculations"
keywords = ["math", "calculate", "arithmetic"]
script = "calculator.py"
visibility = "native"  # or omit for default

[parameters.operation]
type = "string"
description = "Operation: add, subtract, multiply, divide"
required = true

[parameters.a]
type = "number"
description = "First number"
required = true

[parameters.b]
type = "number"
description = "Second number"
required = true
`;

const SEND_EMAIL = `name = "send_email"
description = "Send an email to a recipient"
keywords = ["email", "send", "message", "notification", "smtp"]
script = "send_email.py"
visibility = "ondemand"

[parameters.to]
type = "string"
description = "Recipient email address"
required = true

[parameters.subject]
type = "string"
description = "Email subject"
required = true

[parameters.body]
type = "string"
description = "Email body content"
required = true
`;

describe("one endpoint with two modes", () => {
  async function openAll(options: SessionOptions = {}): Promise<McpSession> {
    yard.script("bell", 'keywords = ["strokes"]\n');
    yard.script("crane", `${ONDEMAND}keywords = ["hoist"]\n`);
    const [near, far] = [await elsewhere("dock", "near-token"), await elsewhere("tow", "far-token")];
    const remote_servers = [
      { namespace: "near", url: near.url, token: "near-token", tool_visibility: "native" as const },
      { namespace: "far", url: far.url, token: "far-token", tool_visibility: "ondemand" as const },
    ];
    return open({ builtin: { execute_code: true }, mcp: { remote_servers } }, options);
  }

  test("T0, T1, T12, T21, T22, T24, T30, T31: normal mode lists native tools, and calls all tools", async () => {
    const client = await openAll();
    const tools = await client.tools();
    const listed = ["bell", "execute_code", "execute_tool", "near__dock", "tool_search"];
    expect(tools.map(({ name }) => name)).toEqual(listed);
    expect(tools.find(({ name }) => name === "execute_code")).not.toHaveProperty("keywords");
    expect(JSON.parse(await client.text("far__tow", { ship: "Ariel" }))).toEqual({ ship: "Ariel" });
    expect(JSON.parse(await client.text("near__dock", { ship: "Ariel" }))).toEqual({ ship: "Ariel" });
    expect(await client.text("crane", { ship: "Ariel" })).toContain("Ariel");
  });

  test("T13, T23: in normal mode search finds both kinds by name and by keyword", async () => {
    const client = await openAll();
    for (const [query, name] of [
      ["strokes", "bell"],
      ["hoist", "crane"],
      ["tow", "far__tow"],
      ["dock", "near__dock"],
    ] as const)
      expect((await client.search(query))[0]).toBe(name);
  });

  test("T20, T25, T26, T27, T29: discovery mode lists two tools, finds all, and runs all", async () => {
    const client = await openAll({ query: "tool_mode=discovery" });
    expect(await client.names()).toEqual(["execute_tool", "tool_search"]);
    for (const [query, name] of [
      ["strokes", "bell"],
      ["hoist", "crane"],
      ["tow", "far__tow"],
      ["dock", "near__dock"],
      ["execute_code", "execute_code"],
    ] as const)
      expect(await client.search(query)).toContain(name);
    const run = { name: "far__tow", arguments: { ship: "Sirius" } };
    expect(JSON.parse(await client.text("execute_tool", run))).toEqual({ ship: "Sirius" });
    expect(await client.text("bell", { ship: "Sirius" })).toContain("Sirius");
  });

  test("T20, T32: the header switches a single request; remotes are available from the start", async () => {
    const client = await openAll();
    expect(await client.names(DISCOVERY)).toEqual(["execute_tool", "tool_search"]);
    expect(await client.names({ "X-MCP-Tool-Mode": "plain" })).toContain("near__dock");
    expect(yard.hub.sources().map(({ source, status }) => [source.id, status.state])).toEqual(
      expect.arrayContaining([
        ["near", "ready"],
        ["far", "ready"],
      ]),
    );
  });
});

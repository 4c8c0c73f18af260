import { chmodSync, renameSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HubConfig } from "../../../packages/toolyard/src/index.ts";
import type { McpSession } from "../mcp-session.ts";
import { textsOf, Yard } from "../yard.ts";

let yard: Yard;

beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard[Symbol.asyncDispose]());

/** Opens a client of a hub with the yard's script tools. The folder is not watched, so every request reads it. */
async function open(settings: HubConfig = {}): Promise<McpSession> {
  await yard.open({ scripts: { tools_path: yard.path("tools") }, ...settings });
  return yard.mcp();
}

test("T0: one endpoint serves built-in, script and module tools", async () => {
  yard.script("mine");
  yard.module(
    "text",
    'hub.registerTool("text.upper", ({ word }) => word.toUpperCase(), { word: { type: "string" } });',
  );
  const client = await open({ modules: { paths: [yard.path("mods")] } });
  expect(await client.names({ "x-mcp-tool-mode": "show_all" })).toEqual(
    expect.arrayContaining(["tool_search", "meta.ping", "mine", "text.upper"]),
  );
  expect(await client.text("meta.ping")).toBe("pong");
  expect(JSON.parse(await client.text("mine", { a: 1 }))).toEqual({ a: 1 });
  expect(await client.text("text.upper", { word: "x" })).toBe("X");
});

test("T0: a source kind that is not configured adds no tool", async () => {
  yard.script("mine");
  await yard.open();
  const client = await yard.mcp();
  const names = await client.names({ "x-mcp-tool-mode": "show_all" });
  expect(names.filter((name) => !name.startsWith("meta."))).toEqual(["execute_tool", "tool_search"]);
});

test("T2: scans the folder for every request, without registration or restart", async () => {
  const client = await open();
  expect(await client.names()).toEqual([]);
  for (const name of ["a", "b", "c"]) {
    yard.script(name);
    expect(await client.names()).toContain(name);
    expect(JSON.parse(await client.text(name, { n: name }))).toEqual({ n: name });
  }
});

test("T2: a file whose name only ends in tool.toml is not a tool", async () => {
  yard.folder.write("tools/odd/mytool.toml", 'name = "odd"\ndescription = "d"\nscript = "run.sh"\n');
  yard.folder.write("tools/odd/run.sh", "cat");
  expect(await (await open()).names()).toEqual([]);
});

test("T3: a new directory with tool.toml and script is listed and callable at the next request", async () => {
  const client = await open();
  expect((await client.call("late")).error?.code).toBe(-32602);
  yard.script("late", "", "echo here");
  expect(await client.text("late")).toBe("here");
});

test("T3: a directory without its script is not a tool", async () => {
  const client = await open();
  yard.folder.write("tools/half/tool.toml", 'name = "half"\ndescription = "d"\nscript = "run.sh"\n');
  expect(await client.names()).toEqual([]);
  expect(yard.problems("scripts")).toEqual([expect.stringContaining("which is not there")]);
});

test("T4: the next call runs a changed script", async () => {
  yard.script("one", "", "echo 1");
  const client = await open();
  expect(await client.text("one")).toBe("1");
  yard.folder.write("tools/one/run.sh", "echo 2", 0o755);
  expect(await client.text("one")).toBe("2");
});

test("T4: checks arguments against the current parameters", async () => {
  yard.script("one", '[parameters.a]\ntype = "string"\n');
  const client = await open();
  expect(JSON.parse(await client.text("one"))).toEqual({});
  yard.script("one", '[parameters.a]\ntype = "string"\nrequired = true\n');
  const { result } = await client.call("one");
  expect(result).toMatchObject({ isError: true });
  expect(textsOf(result)[0]).toContain("Missing required parameter: a");
});

test("T5: the next request omits a removed directory, and its tool is unknown", async () => {
  yard.script("one");
  yard.script("two");
  const client = await open();
  expect(await client.names()).toEqual(["one", "two"]);
  yard.folder.remove("tools/one");
  expect((await client.call("one")).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("Unknown tool: one"),
  });
  expect(await client.names()).toEqual(["two"]);
});

test("T6: a change of the visibility, in either direction, applies to the next request", async () => {
  yard.script("one");
  const client = await open();
  expect(await client.names()).toEqual(["one"]);
  yard.script("one", 'visibility = "ondemand"\n');
  expect(await client.names()).toEqual(["execute_tool", "tool_search"]);
  yard.script("one", 'visibility = "native"\n');
  expect(await client.names()).toEqual(["one"]);
});

test("T7: the next request uses a changed description and changed keywords", async () => {
  yard.script("one", 'visibility = "ondemand"\nkeywords = ["umbrella"]\n');
  const client = await open();
  expect(await client.search("umbrella")).toEqual(["one"]);
  yard.folder.write(
    "tools/one/tool.toml",
    'name = "one"\ndescription = "Says the hour."\nscript = "run.sh"\nkeywords = ["parasol"]\n',
  );
  expect((await client.tools())[0]).toMatchObject({ name: "one", description: "Says the hour." });
  expect(await client.search("parasol")).toEqual(["one"]);
  expect(await client.matches("umbrella")).toEqual([]);
});

test("T8: a tool has its name, description, keywords, script, visibility and parameters of each type", async () => {
  yard.script(
    "full",
    'keywords = ["keyword1", "keyword2"]\nvisibility = "native"\n' +
      '[parameters.s]\ntype = "string"\ndescription = "A text"\nrequired = true\n[parameters.n]\n' +
      'type = "number"\n[parameters.b]\ntype = "boolean"\nrequired = false\n',
  );
  const client = await open();
  expect((await client.tools())[0]).toEqual({
    name: "full",
    description: "Tool full.",
    inputSchema: {
      type: "object",
      properties: { s: { type: "string", description: "A text" }, n: { type: "number" }, b: { type: "boolean" } },
      required: ["s"],
    },
  });
  expect(JSON.parse(await client.text("full", { s: "x", n: 1.5, b: true }))).toEqual({ s: "x", n: 1.5, b: true });
});

test("T8: an argument of the wrong type is refused", async () => {
  yard.script("full", '[parameters.n]\ntype = "number"\n');
  const { result } = await (await open()).call("full", { n: "many" });
  expect(result?.["isError"]).toBe(true);
});

test.each(["name", "description", "script"])(
  "T9: without `%s` the tool is not listed, and the diagnostic names the key",
  async (key) => {
    const lines = ['name = "one"', 'description = "d"', 'script = "run.sh"'].filter((line) => !line.startsWith(key));
    yard.folder.write("tools/one/tool.toml", lines.join("\n"));
    yard.folder.write("tools/one/run.sh", "cat");
    expect(await (await open()).names()).toEqual([]);
    expect(yard.problems("scripts")).toEqual([
      expect.stringMatching(new RegExp(`^one/tool\\.toml: not offered: \`${key}\` is missing`)),
    ]);
  },
);

test("T9: the keys name, description and script are sufficient", async () => {
  yard.folder.write("tools/one/tool.toml", 'name = "one"\ndescription = "d"\nscript = "run.sh"\n');
  yard.folder.write("tools/one/run.sh", "cat");
  expect(await (await open()).names()).toEqual(["one"]);
});

test("T10: a syntax error excludes only its tool, until it is fixed", async () => {
  yard.script("good");
  yard.script("bad", "keywords = [\n");
  const client = await open();
  expect(await client.names()).toEqual(["good"]);
  expect(yard.problems("scripts")).toEqual([
    expect.stringContaining("bad/tool.toml: not offered: the TOML cannot be read (line "),
  ]);
  yard.script("bad");
  expect(await client.names()).toEqual(["bad", "good"]);
});

test("T11: the directory is the configured tools_path, with either name of the section", async () => {
  yard.script("one");
  yard.folder.write("elsewhere/two/tool.toml", 'name = "two"\ndescription = "d"\nscript = "run.sh"\n');
  yard.folder.write("elsewhere/two/run.sh", "cat");
  const config = yard.folder.write("toolyard.toml", '[scriptling]\ntools_path = "./tools"\n');
  await yard.open({}, { config });
  expect(await (await yard.mcp()).names()).toEqual(["one"]);
});

test("T11: a tool outside of tools_path is not listed, found or called", async () => {
  yard.script("inside", 'visibility = "ondemand"\n');
  yard.folder.write("elsewhere/outside/tool.toml", 'name = "outside"\ndescription = "Far away."\nscript = "run.sh"\n');
  yard.folder.write("elsewhere/outside/run.sh", "cat");
  const client = await open();
  expect(await client.names({ "x-mcp-tool-mode": "show_all" })).not.toContain("outside");
  expect(await client.search("outside far away")).not.toContain("outside");
  expect((await client.call("outside")).error?.code).toBe(-32602);
});

test.each([
  ["native", 'visibility = "native"\n'],
  ["omitted", ""],
])("T12: tools/list has a tool with the visibility %s", async (_, toml) => {
  yard.script("one", toml);
  expect(await (await open()).names()).toEqual(["one"]);
});

test("T12: tools/list omits an ondemand tool, and search finds it", async () => {
  yard.script("one", 'visibility = "ondemand"\n');
  const client = await open();
  expect(await client.names()).not.toContain("one");
  expect(await client.search("one")).toEqual(["one"]);
});

test("T13: tool_search uses keywords of native and ondemand tools", async () => {
  yard.script("shown", 'keywords = ["zebra"]\n');
  yard.script("hidden", 'keywords = ["zebra"]\nvisibility = "ondemand"\n');
  const client = await open();
  expect((await client.search("zebra")).toSorted()).toEqual(["hidden", "shown"]);
  expect(await client.matches("giraffe")).toEqual([]);
});

const CALCULATOR =
  'name = "calculator"\ndescription = "Perform calculations"\n' +
  'keywords = ["math", "calculate", "arithmetic"]\nscript = "calculator.mjs"\nvisibility = "native"\n' +
  '[parameters.operation]\ntype = "string"\ndescription = "Operation: add, subtract, multiply, divide"\n' +
  "required = true\n" +
  '[parameters.a]\ntype = "number"\ndescription = "First number"\nrequired = true\n[parameters.b]\n' +
  'type = "number"\ndescription = "Second number"\nrequired = true\n';
const SEND_EMAIL =
  'name = "send_email"\ndescription = "Send an email to a recipient"\n' +
  'keywords = ["email", "send", "message", "notification", "smtp"]\nscript = "send_email.sh"\n' +
  'visibility = "ondemand"\n' +
  '[parameters.to]\ntype = "string"\ndescription = "Recipient email address"\nrequired = true\n' +
  '[parameters.subject]\ntype = "string"\ndescription = "Email subject"\nrequired = true\n[parameters.body]\n' +
  'type = "string"\ndescription = "Email body content"\nrequired = true\n';

function documentTools(): void {
  yard.folder.write("tools/calculator/tool.toml", CALCULATOR);
  yard.folder.write(
    "tools/calculator/calculator.mjs",
    'let text = ""; for await (const part of process.stdin) text += part;\n' +
      "const { operation, a, b } = JSON.parse(text);\n" +
      "console.log({ add: a + b, subtract: a - b, multiply: a * b, divide: a / b }[operation]);\n",
  );
  yard.folder.write("tools/email_sender/tool.toml", SEND_EMAIL);
  yard.folder.write("tools/email_sender/send_email.sh", "cat");
}

test("T14: lists and runs the specified calculator; finds and runs the specified send_email", async () => {
  documentTools();
  const client = await open();
  expect(await client.names()).toEqual(["calculator", "execute_tool", "tool_search"]);
  expect(await client.text("calculator", { operation: "multiply", a: 6, b: 7 })).toBe("42");
  expect((await client.search("email"))[0]).toBe("send_email");
  expect(
    JSON.parse(
      await client.text("execute_tool", { name: "send_email", arguments: { to: "a@b.test", subject: "s", body: "t" } }),
    ),
  ).toEqual({ to: "a@b.test", subject: "s", body: "t" });
});

test.each([
  ["calculator", { operation: "add", a: 1 }, "b"],
  ["send_email", { to: "a@b.test", subject: "s" }, "body"],
])("T14: %s with a missing parameter is refused", async (name, args, missing) => {
  documentTools();
  const { result } = await (await open()).call(name, args);
  expect(result?.["isError"]).toBe(true);
  expect(textsOf(result)[0]).toContain(`Missing required parameter: ${missing}`);
});

test("T33: one scan serves native and ondemand tools; an ondemand one adds discovery tools", async () => {
  yard.script("a");
  yard.script("b", 'visibility = "ondemand"\n');
  const client = await open();
  expect(await client.names()).toEqual(["a", "execute_tool", "tool_search"]);
  yard.folder.remove("tools/b");
  expect(await client.names()).toEqual(["a"]);
});

test("T34: concurrent requests during changes to the folder each get a complete answer", async () => {
  for (let index = 0; index < 20; index += 1) yard.script(`t${index}`, "", "echo ok");
  const client = await open();
  const work = Array.from({ length: 60 }, async (_, index) => {
    if (index % 6 === 0) yard.script(`new${index}`);
    return index % 2 === 0
      ? (await client.names()).filter((name) => /^t\d+$/.test(name)).length
      : client.text(`t${index % 20}`);
  });
  const answers = await Promise.all(work);
  expect(answers.filter((answer) => answer === 20).length).toBe(30);
  expect(answers.filter((answer) => answer === "ok").length).toBe(30);
});

test("T34: of concurrent calls only those to a broken tool fail", async () => {
  yard.script("good", "", "echo ok");
  yard.script("bad", "", "exit 3");
  const client = await open();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => client.call(index % 2 === 0 ? "good" : "bad")),
  );
  expect(answers.map(({ result }) => result?.["isError"] === true)).toEqual(
    Array.from({ length: 20 }, (_, index) => index % 2 === 1),
  );
});

test("T35: added, changed and removed tools, visibilities, discovery and search work together", async () => {
  documentTools();
  const client = await open();
  expect(await client.names({ "x-mcp-tool-mode": "discovery" })).toEqual(["execute_tool", "tool_search"]);
  expect(await client.search("math")).toContain("calculator");
  renameSync(yard.path("tools/calculator"), yard.path("calculator-gone"));
  expect(await client.search("math")).not.toContain("calculator");
  expect((await client.call("calculator", { operation: "add", a: 1, b: 1 })).error?.code).toBe(-32602);
});

test("T36: wrong visibility, the discovery header and a missing field each hide a tool", async () => {
  yard.script("fine");
  yard.script("hidden", 'visibility = "ondemand"\n');
  yard.folder.write("tools/nameless/tool.toml", 'description = "d"\nscript = "run.sh"\n');
  yard.folder.write("tools/nameless/run.sh", "cat");
  const client = await open();
  expect(await client.names()).toEqual(["execute_tool", "fine", "tool_search"]);
  expect(await client.names({ "x-mcp-tool-mode": "discovery" })).toEqual(["execute_tool", "tool_search"]);
});

test("T36: without keywords, search only uses name and description", async () => {
  yard.script("alpha", 'visibility = "ondemand"\n');
  const client = await open();
  expect(await client.search("alpha")).toEqual(["alpha"]);
  expect(await client.matches("umbrella")).toEqual([]);
  yard.script("alpha", 'visibility = "ondemand"\nkeywords = ["umbrella"]\n');
  expect(await client.search("umbrella")).toEqual(["alpha"]);
});

/** Runs `work` as an unprivileged user if the test runs as root, because file permissions do not apply to root. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

test("T36: an unreadable file is reported and does not affect the others", async () => {
  const client = await open();
  chmodSync(yard.folder.path, 0o755);
  yard.script("good");
  yard.script("locked");
  chmodSync(yard.path("tools/locked/tool.toml"), 0o000);
  expect(await asNobody(() => client.names())).toEqual(["good"]);
  expect(yard.problems("scripts")).toEqual([expect.stringContaining("locked/tool.toml")]);
});

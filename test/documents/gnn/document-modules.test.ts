// Modules in Python in the form of the core server's document and its public project.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Yard } from "../yard.ts";

let yard: Yard;
beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard[Symbol.asyncDispose]());

async function open(): Promise<void> {
  await yard.open({ modules: { paths: [yard.path("src")] } });
}

async function rpc(method: string, params: object, headers: Readonly<Record<string, string>> = {}, path = "/jsonrpc") {
  const response = await fetch(new URL(path, await yard.endpoint()), {
    method: "POST",
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? (JSON.parse(text) as object) : text };
}
const JSON_TYPE = { "content-type": "application/json" };

describe("G3: a module's own folder", () => {
  test.each(["json", "logging", "types", "random", "enum", "asyncio", "inspect"])(
    "a file %s.py of the module does not replace the standard library",
    async (name) => {
      yard.folder.write(`src/export/${name}.py`, "raise RuntimeError('the wrong file')\n");
      yard.folder.write("src/export/helper.py", "VALUE = 5\n");
      yard.folder.write(
        "src/export/mcp.py",
        `import ${name}\nimport helper\n` +
          `def register_tools(mcp):\n` +
          `    mcp.register_tool("export.where", lambda: [${name}.__name__, helper.VALUE], {}, "")\n`,
      );
      await open();
      expect(await rpc("export.where", {}, JSON_TYPE)).toMatchObject({ body: { result: [name, 5] } });
    },
  );
});

test.each([
  ["async def register_tools(mcp):\n", ""],
  ["async def register_tools(mcp):\n    import asyncio\n    await asyncio.sleep(0)\n", ""],
])("G4: a module that begins with %j registers its tools", async (head) => {
  yard.folder.write("src/late/mcp.py", `${head}    mcp.register_tool("late.five", lambda: 5, {}, "")\n`);
  await open();
  expect(await rpc("late.five", {}, JSON_TYPE)).toMatchObject({ body: { result: 5 } });
});

test("G6: an async register_tools that fails is reported like any other", async () => {
  yard.folder.write("src/bad/mcp.py", "async def register_tools(mcp):\n    raise ValueError('no tide')\n");
  yard.folder.write(
    "src/good/mcp.py",
    "def register_tools(mcp):\n    mcp.register_tool('good.five', lambda: 5, {}, '')\n",
  );
  await open();
  expect(await rpc("good.five", {}, JSON_TYPE)).toMatchObject({ body: { result: 5 } });
  expect(yard.log.whole).toContain("no tide");
});

describe("G8: unknown keywords of register_tool", () => {
  test.each([
    ["module='export'", "module"],
    ["category='io', version='1.0'", "category"],
    ["tags=['a']", "tags"],
    ["requires_auth=False", "requires_auth"],
    ["rate_limit=None, cache_ttl=30.0", "cache_ttl"],
  ])("%s warn, and the tool is registered", async (keywords, name) => {
    const text = `def register_tools(mcp):\n    mcp.register_tool("t.five", lambda: 5, {}, "", ${keywords})\n`;
    yard.folder.write("src/t/mcp.py", text);
    await open();
    expect(await rpc("t.five", {}, JSON_TYPE)).toMatchObject({ body: { result: 5 } });
    const warnings = yard.lines.filter((line) => line.startsWith("warning") && line.includes(`\`${name}\``));
    expect(warnings).toEqual([expect.stringMatching(/is not an option(?:\.|; did you mean `\w+`\?) Known are /)]);
  });
});

describe("G30: a body without Content-Type: application/json", () => {
  const five = () =>
    yard.folder.write("src/t/mcp.py", 'def register_tools(mcp):\n    mcp.register_tool("t.five", lambda: 5, {}, "")\n');

  test.each([
    ["application/x-www-form-urlencoded", "/"],
    ["application/x-www-form-urlencoded", "/jsonrpc"],
    ["text/plain", "/jsonrpc"],
    ["application/octet-stream", "/"],
    ["application/json; charset=utf-8", "/"],
  ])("is accepted from a program as %s at %s", async (type, path) => {
    five();
    await open();
    expect(await rpc("t.five", {}, { "content-type": type }, path)).toMatchObject({ status: 200, body: { result: 5 } });
  });

  test.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ referer: "http://elsewhere.test/" }],
    [{ cookie: "a=b" }],
  ])("is refused from a browser that sends %j", async (headers) => {
    five();
    await open();
    const answer = await rpc("t.five", {}, { "content-type": "text/plain", ...headers });
    expect([403, 415]).toContain(answer.status);
    expect(JSON.stringify(answer.body)).not.toContain('"result"');
  });

  test("is refused with any Origin of another site", async () => {
    five();
    await open();
    for (const origin of ["http://elsewhere.test", "null"])
      expect([403, 415]).toContain((await rpc("t.five", {}, { "content-type": "text/plain", origin })).status);
  });
});

test("G70: the specified meta_mcp.py loads, and the server's meta tools answer", async () => {
  yard.folder.write("src/mcp/meta_mcp.py", META);
  await open();
  expect(await rpc("meta.get_server_status", {}, JSON_TYPE)).toMatchObject({ body: { result: { status: "running" } } });
  expect(await rpc("meta.ping_document", {}, JSON_TYPE)).toMatchObject({ body: { error: { code: -32_601 } } });
  await expect.poll(() => yard.lines).toContain("info Successfully registered tools from src.mcp.meta_mcp");
  expect(yard.lines.filter((line) => line.includes("Failed to load"))).toEqual([]);
});

/** The document's example in our own words: three tools under the names of the server's own tools. */
const META = `
def register_tools(mcp_instance):
    for name in ("meta.get_server_status", "meta.get_full_capabilities", "meta.get_module_info"):
        mcp_instance.register_tool(
            name=name, func=lambda: {"status": "document"}, schema={}, description="A meta tool."
        )
`;

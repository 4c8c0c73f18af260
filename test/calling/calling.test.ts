// Tools that call other tools: scripts and folders of every language, run by a real hub as real children.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withTimeToBegin } from "../fixtures/time-to-begin.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub, type ToolContext } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { ToolFolder } from "../support/tool-folder.ts";

let folder: ToolFolder;
let home: string;
let hub: LibraryHub | undefined;
/** Context values that the tool `probe` received with its calls. */
let seen: { readonly args: JsonObject; readonly principal: string; readonly signal: AbortSignal }[];

beforeEach(async () => {
  folder = new ToolFolder();
  home = await mkdtemp(join(tmpdir(), "toolyard-calling-"));
  seen = [];
});
afterEach(async () => {
  await hub?.close();
  hub = undefined;
  folder[Symbol.dispose]();
  await rm(home, { recursive: true, force: true });
});

/** A hub with the folder's script tools, and tools of this program: `double`, `probe`, `broken`, `hang`, `words`. */
async function start(settings: JsonObject = {}): Promise<LibraryHub> {
  hub = await createHub({
    settings: { ...("folders" in settings ? {} : { scripts: { tools_path: folder.path } }), ...settings },
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
    registerTools: (tools) => {
      tools.registerTool(
        "double",
        ({ x }: { x: number }) => ({ x: x * 2 }),
        { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
        "Doubles a number",
      );
      tools.registerTool(
        "probe",
        (args: JsonObject, { principal, signal }: ToolContext) => void seen.push({ args, principal, signal }),
        { type: "object" },
        "Looks on",
      );
      tools.registerTool("broken", () => Promise.reject(new Error("it broke")), {}, "Fails");
      tools.registerTool("words", () => "just text", {}, "Says words");
      tools.registerTool(
        "hang",
        (args: JsonObject, { principal, signal }: ToolContext) => {
          seen.push({ args, principal, signal });
          return new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(new Error("ended")), { once: true }),
          );
        },
        {},
        "Never ends",
      );
    },
  });
  return hub;
}

async function run(name: string, args: JsonObject = {}): Promise<unknown> {
  const outcome = await (hub ?? (await start())).call(name, args);
  if (!outcome.ok) throw new Error(`${outcome.kind}: ${outcome.message}`);
  return (
    outcome.result["structuredContent"] ??
    (outcome.result["content"] as { text: string }[]).map(({ text }) => text).join("\n")
  );
}

const NO_PARAMETERS = "";

describe("helpers of scripts", () => {
  test("T0: a Python script gets its arguments, calls, searches and lists tools, and returns an object", async () => {
    folder.script(
      "one",
      "one.py",
      [
        "import toolyard",
        "from toolyard import ToolError, call_tool, get, list_tools, return_object, search_tools, tools",
        "print('only a log line')",
        "try: call_tool('no_such')",
        "except ToolError as error: unknown = error.kind",
        "try: call_tool('broken')",
        "except ToolError as error: broken = [error.kind, str(error)]",
        "try: call_tool('double', {'x': 'text'})",
        "except ToolError as error: invalid = error.kind",
        "return_object({'got': get('x'), 'default': get('y', 7), 'doubled': call_tool('double', {'x': " +
          "get('x')})['x'], 'sugar': tools.double(x=5)['x'],",
        "  'text': call_tool('words'), 'raw': toolyard.call_tool_result('words')['content'][0]['type'], " +
          "'unknown': unknown, 'broken': broken, 'invalid': invalid,",
        "  'found': [hit['name'] for hit in search_tools('doubles a number', 1)], 'listed': " +
          "sorted(tool['name'] for tool in list_tools() if tool['name'] in ('double', 'one'))})",
      ].join("\n"),
      '[parameters.x]\ntype = "integer"\n',
    );
    expect(await run("one", { x: 4 })).toEqual({
      got: 4,
      default: 7,
      doubled: 8,
      sugar: 10,
      text: "just text",
      raw: "text",
      unknown: "unknown_tool",
      broken: ["tool_error", "Error executing tool 'broken': it broke"],
      invalid: "invalid_params",
      found: ["double"],
      listed: ["double", "one"],
    });
  });

  test("C22: `llmr.mcp` has the names that llmrouter's scripts use", async () => {
    folder.script(
      "one",
      "one.py",
      "import llmr.mcp\nname = llmr.mcp.get('name', 'world')\n" +
        "hits = llmr.mcp.tool_search(query='doubles', max_results=1)\n" +
        "inner = llmr.mcp.execute_tool('double', {'x': 2})\n" +
        "llmr.mcp.return_string('hello ' + name + ' ' + str(inner['x']) + ' ' + hits[0]['name'])",
      '[parameters.name]\ntype = "string"\n',
    );
    expect(await run("one", { name: "you" })).toBe("hello you 4 double");
  });

  test.each([
    [
      "a module",
      "one.mjs",
      'import { callTool, get, listTools, returnObject, searchTools, ToolError, tools } from "toolyard/script";\n',
    ],
    [
      "CommonJS",
      "one.cjs",
      'const { callTool, get, listTools, returnObject, searchTools, ToolError, tools } = require("toolyard/script");\n',
    ],
    [
      "TypeScript",
      "one.ts",
      "import { callTool, get, listTools, returnObject, searchTools, ToolError, tools } from " +
        '"toolyard/script";\nenum K { a }\nconst k: K = K.a; void k;\n',
    ],
  ])("C22: %s of Node imports `toolyard/script` where no package is installed", async (_, file, head) => {
    folder.script(
      "one",
      file,
      `${head}
      async function main() {
        const failed = await callTool("broken").catch((error) => [error instanceof ToolError, error.kind]);
        const all = await Promise.all([1, 2, 3].map((x) => tools.double({ x })));
        const [hit] = await searchTools("doubles a number", { limit: 1 });
        const listed = (await listTools()).some((tool) => tool.name === "double");
        console.log("only a log line");
        returnObject({ got: get("x"), text: await callTool("words"), failed, all: all.map(({ x }) => x), hit: hit.name,
          listed });
      }
      main();`,
      '[parameters.x]\ntype = "integer"\n',
    );
    expect(await run("one", { x: 4 })).toEqual({
      got: 4,
      text: "just text",
      failed: [true, "tool_error"],
      all: [2, 4, 6],
      hit: "double",
      listed: true,
    });
  });

  test("a file that the script imports can import the helpers too", async () => {
    folder.write(
      "one/lib.mjs",
      'import { callTool } from "toolyard/script";\nexport const twice = async (x) => (await ' +
        'callTool("double", { x })).x;',
    );
    folder.script("one", "one.mjs", 'import { twice } from "./lib.mjs";\nconsole.log(await twice(21));', NO_PARAMETERS);
    expect(await run("one")).toBe("42");
  });

  test("a shell script can use the line protocol directly: requests on descriptor 3, responses on 4", async () => {
    folder.script(
      "one",
      "one.sh",
      "printf " +
        `'{"id":1,"method":"tools/call","params":{"name":"double","arguments":{"x":21},"as":"value"}}\\n' >&3\n` +
        `read -r answer <&4\nprintf '%s' "$answer"`,
      NO_PARAMETERS,
    );
    expect(await run("one")).toEqual({ jsonrpc: "2.0", id: 1, result: { value: { x: 42 } } });
  });

  test("without the helpers, printed text is the result, and a returned error is a failure", async () => {
    folder.script("plain", "plain.py", "import toolyard\nprint('printed')", NO_PARAMETERS);
    folder.script(
      "bad",
      "bad.py",
      "from toolyard import return_error\nprint('printed')\nreturn_error('it cannot be')",
      NO_PARAMETERS,
    );
    expect(await run("plain")).toBe("printed");
    expect(await hub!.call("bad", {})).toMatchObject({ ok: false, kind: "tool_error", message: "it cannot be" });
  });

  test("a returned text that looks like JSON stays text, and the last returned result counts", async () => {
    folder.script(
      "one",
      "one.py",
      "from toolyard import return_object, return_string\nreturn_object({'a': 1})\nreturn_string('{\"b\": 2}')",
      NO_PARAMETERS,
    );
    const outcome = await (await start()).call("one", {});
    expect(outcome).toMatchObject({ ok: true, result: { content: [{ type: "text", text: '{"b": 2}' }] } });
    expect(outcome.ok && outcome.result["structuredContent"]).toBeUndefined();
  });

  test("Python makes concurrent calls from threads and from an event loop", async () => {
    folder.script(
      "one",
      "one.py",
      "import asyncio, threading\nfrom toolyard import call_tool, call_tool_async, return_object\nout = []\n" +
        "threads = [threading.Thread(target=lambda x=x: out.append(call_tool('double', {'x': x})['x'])) for x " +
        "in range(20)]\n[t.start() for t in threads]; [t.join() for t in threads]\n" +
        "async def main(): return [r['x'] for r in await asyncio.gather(*(call_tool_async('double', {'x': x}) " +
        "for x in range(20)))]\nreturn_object({'threads': sorted(out), 'loop': asyncio.run(main())})",
      NO_PARAMETERS,
    );
    const doubled = Array.from({ length: 20 }, (_, x) => x * 2);
    expect(await run("one")).toEqual({ threads: doubled, loop: doubled });
  });

  test("a program outside of a hub gets a clear error", async () => {
    folder.script(
      "one",
      "one.py",
      "import os, subprocess, sys\nfrom toolyard import return_string\n" +
        "out = subprocess.run([sys.executable, '-c', 'import toolyard; " +
        'toolyard.call_tool("double")\'], capture_output=True, text=True)\n' +
        "return_string(out.stderr.strip().splitlines()[-1])",
      NO_PARAMETERS,
    );
    expect(await run("one")).toContain("was not started by a hub as a tool");
  });
});

describe("principal of nested calls", () => {
  test("S6: a script's calls have exactly the rights of its caller", async () => {
    folder.script(
      "one",
      "one.py",
      "from toolyard import *\ntry: value = call_tool('double', {'x': 1})\n" +
        "except ToolError as error: value = error.kind\nreturn_object({'value': value, 'listed': [t['name'] for " +
        "t in list_tools() if t['name'] in ('one', 'double', 'words')], 'found': [h['name'] for h in " +
        "search_tools('doubles a number')]})",
      NO_PARAMETERS,
    );
    await start({ server: { port: 0, tokens: { narrow: { token: "narrow-secret-0123456789", allow: ["one"] } } } });
    const { endpoint } = await hub!.serve();
    const client = await RawClient.open(
      new HttpWire(endpoint, "modern", { authorization: "Bearer narrow-secret-0123456789" }),
      { era: "modern" },
    );
    const reply = await client.request("tools/call", { name: "one", arguments: {} });
    await client.close();
    expect((reply["result"] as JsonObject)["structuredContent"]).toEqual({
      value: "denied",
      listed: ["one"],
      found: [],
    });
  });

  test("a call that the script left open ends with the script", async () => {
    folder.script(
      "one",
      "one.mjs",
      'import { callTool } from "toolyard/script";\nvoid callTool("hang");\nsetTimeout(() => process.exit(0), 200);',
      NO_PARAMETERS,
    );
    await run("one");
    await expect.poll(() => seen.at(0)?.signal.aborted).toBe(true);
  });

  test("C20: a deadline ends the script and its calls", async () => {
    const hub = await start();
    const outcome = await withTimeToBegin(
      (timeoutMs) => {
        folder.script(
          "one",
          "one.py",
          "from toolyard import call_tool\ncall_tool('hang')",
          `timeout = "${timeoutMs}ms"\n`,
        );
        return hub.call("one", {});
      },
      () => seen.length > 0,
    );
    expect(outcome).toMatchObject({ ok: false, kind: "timeout" });
    expect(seen).toHaveLength(1);
    expect(seen[0]!.signal.aborted).toBe(true);
  });

  test("stops a tool that calls itself", async () => {
    folder.script(
      "one",
      "one.sh",
      `printf '{"id":1,"method":"tools/call","params":{"name":"one"}}\\n' >&3\nread -r answer <&4\n` +
        `case "$answer" in *deep*|*"16 calls already wait for one another"*) echo deep;; ` +
        `*) echo "$answer";; esac`,
      NO_PARAMETERS,
    );
    expect(await run("one")).toBe("deep");
  });

  test("answers each request that cannot be understood, and skips lines that are not requests", async () => {
    folder.script(
      "one",
      "one.sh",
      "printf " +
        `'nonsense\\n{"id":1,"method":"rm"}\\n{"id":2,"method":"tools/call","params":{}}\\n{"id":"x","method":"tools/search","params":{"limit":0}}\\n' ` +
        `>&3\nfor n in 1 2 3; do read -r answer <&4; echo "$answer"; done`,
      NO_PARAMETERS,
    );
    const lines = String(await run("one"))
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    expect(lines).toMatchObject([
      { id: 1, error: { message: expect.stringContaining("Unknown method `rm`"), data: { kind: "unknown_tool" } } },
      { id: 2, error: { data: { kind: "invalid_params" } } },
      { id: "x", error: { message: expect.stringContaining("`limit`") } },
    ]);
  });

  test("refuses requests above the limit of a run; a script that reads no responses ends with its call", async () => {
    folder.script(
      "flood",
      "flood.py",
      'import os\nline = b\'{"id":1,"method":"tools/call","params":{"name":"words"}}\\n\'\n' +
        "for n in range(10100): os.write(3, line)\nanswers = b''\n" +
        "while answers.count(b'\\n') < 10100: answers += os.read(4, 1 << 20)\n" +
        "print(answers.count(b'just text'), answers.count(b'limited'))",
      'timeout = "60s"\n',
    );
    folder.script(
      "deaf",
      "deaf.py",
      'import os, time\nline = b\'{"id":1,"method":"tools/list"}\\n\'\n' +
        "for n in range(5000): os.write(3, line)\ntime.sleep(600)",
      'timeout = "1500ms"\n',
    );
    expect(await run("flood")).toBe("10000 100");
    expect(await hub!.call("deaf", {})).toMatchObject({ ok: false, kind: "timeout" });
  });
});

describe("the context parameter of execute", () => {
  function execute(name: string, suffix: string, text: string): void {
    folder.write(
      `tools/${name}/${name}.mcp.json`,
      JSON.stringify({ name, description: "d", input_schema: { type: "object" } }),
    );
    folder.write(`tools/${name}/${name}${suffix}`, text);
  }
  const started = (more: JsonObject = {}): Promise<LibraryHub> =>
    start({ folders: { tools_path: join(folder.path, "tools") }, ...more });

  test("L34: in Python the instance calls, searches and lists tools, if the tool declares the parameter", async () => {
    execute(
      "one",
      ".py",
      "def execute(params, lollms_client_instance):\n  hub = lollms_client_instance\n" +
        "  return {'x': hub.call_tool('double', {'x': 2})['x'], 'sugar': hub.tools.double(x=3)['x'], 'hit': " +
        "hub.search_tools('doubles a number')[0]['name'], 'many': len(hub.list_tools()) > 2, 'cancelled': " +
        "hub.cancelled}",
    );
    execute("two", ".py", "def execute(params, *rest, **named): return {'rest': len(rest), 'named': len(named)}");
    await started();
    expect(await run("one")).toEqual({ x: 4, sugar: 6, hit: "double", many: true, cancelled: false });
    expect(await run("two")).toEqual({ rest: 0, named: 0 });
  });

  test("L34: an async function of Python makes concurrent tool calls", async () => {
    execute(
      "one",
      ".py",
      "import asyncio\nasync def execute(params, lollms_client_instance):\n  hub = lollms_client_instance\n" +
        "  return {'all': [r['x'] for r in await asyncio.gather(*(hub.call_tool_async('double', {'x': x}) for x " +
        "in range(5)))]}",
    );
    await started();
    expect(await run("one")).toEqual({ all: [0, 2, 4, 6, 8] });
  });

  test.each([
    [".mjs", "export const execute = async (params, hub) => "],
    [".ts", "type P = Record<string, unknown>;\nexport const execute = async (params: P, hub: any): Promise<P> => "],
    [".js", "export const execute = async (params, lollms_client_instance = null) => ((hub) => "],
  ])("L34: in a %s file the instance calls, searches and lists tools", async (suffix, head) => {
    const body =
      '{ const failed = await hub.callTool("broken").catch((error) => error.kind); ' +
      'return { x: (await hub.call_tool("double", { x: 2 })).x, sugar: (await hub.tools.double({ x: 3 })).x, ' +
      'hit: (await hub.searchTools("doubles a number"))[0].name, many: (await hub.listTools()).length > 2, ' +
      "failed, cancelled: hub.cancelled, aborted: hub.signal.aborted }; }";
    execute(
      "one",
      suffix,
      suffix === ".js" ? `${head} (async () => ${body})())(lollms_client_instance);` : head + body + ";",
    );
    await started();
    expect(await run("one")).toEqual({
      x: 4,
      sugar: 6,
      hit: "double",
      many: true,
      failed: "tool_error",
      cancelled: false,
      aborted: false,
    });
  });

  test("a tool can import the helpers of scripts as well", async () => {
    execute(
      "one",
      ".mjs",
      'import { callTool } from "toolyard/script";\nexport const execute = async () => callTool("double", { x: 1 });',
    );
    execute(
      "two",
      ".ts",
      'import { callTool } from "toolyard/script";\nexport const execute = async () => callTool("double", { x: 2 });',
    );
    execute(
      "three",
      ".py",
      "from toolyard import call_tool\ndef execute(params): return call_tool('double', {'x': 3})",
    );
    await started();
    expect([await run("one"), await run("two"), await run("three")]).toEqual([{ x: 2 }, { x: 4 }, { x: 6 }]);
  });

  test.each([
    [
      "Python",
      ".py",
      (file: string) =>
        "import time\ndef execute(params, lollms_client_instance):\n" +
        "  lollms_client_instance.call_tool('probe', {'word': 'begun'})\n" +
        `  open(${JSON.stringify(`${file}.looks`)}, 'w').close()\n` +
        "  while not lollms_client_instance.cancelled: time.sleep(0.005)\n" +
        `  open(${JSON.stringify(file)}, 'w').close()`,
    ],
    [
      "JavaScript",
      ".mjs",
      (file: string) =>
        `import { writeFileSync } from "node:fs";\nexport async function execute(params, hub) {\n` +
        `  const { signal } = hub;\n  await hub.callTool("probe", { word: "begun" });\n` +
        `  writeFileSync(${JSON.stringify(`${file}.looks`)}, "");\n` +
        "  await new Promise((done) => { const timer = setInterval(() => {}, 1000); " +
        `signal.addEventListener("abort", () => { clearInterval(timer); done(); }); });\n` +
        `  writeFileSync(${JSON.stringify(file)}, "");\n}`,
    ],
  ])("L34: notifies a %s tool that its caller cancelled, and the tool ends itself", async (_, suffix, code) => {
    const file = join(folder.path, "told");
    execute("one", suffix, code(file));
    await started();
    const stop = new AbortController();
    const calling = hub!.call("one", {}, { signal: stop.signal });
    await expect.poll(() => existsSync(`${file}.looks`)).toBe(true);
    stop.abort();
    expect(await calling).toMatchObject({ ok: false, kind: "cancelled" });
    await expect.poll(() => existsSync(file)).toBe(true);
  });

  test("L36: without an image model the instance has no `tti`, and a request for an image fails", async () => {
    execute(
      "one",
      ".py",
      "def execute(params, lollms_client_instance):\n  if params.get('force'): return " +
        "lollms_client_instance.generate_image('a cat')\n  return {'tti': getattr(lollms_client_instance, " +
        "'tti', None)}",
    );
    execute(
      "two",
      ".mjs",
      "export const execute = (params, hub) => (params.force ? hub.generateImage('a cat') : { tti: 'tti' in hub });",
    );
    await started();
    expect(await run("one")).toEqual({ tti: null });
    expect(await run("two")).toEqual({ tti: false });
    for (const name of ["one", "two"])
      expect(await hub!.call(name, { force: true })).toMatchObject({
        ok: false,
        message: expect.stringContaining("No image model is configured"),
      });
  });

  test("L34: with models `tti.generate_image` returns bytes, `generate_text` a text, in both languages", async () => {
    const asked: JsonObject[] = [];
    const server = createServer((request, response) => {
      const answer = async (): Promise<void> => {
        asked.push({ path: request.url, ...(JSON.parse(await text(request)) as JsonObject) });
        const choice = { index: 0, message: { role: "assistant", content: "a line" }, finish_reason: "stop" };
        const body = request.url?.endsWith("/images/generations")
          ? { created: 1, data: [{ b64_json: PNG }] }
          : {
              id: "1",
              object: "chat.completion",
              created: 1,
              model: "m",
              choices: [choice],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
            };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      };
      void answer();
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    try {
      const { port } = server.address() as AddressInfo;
      execute(
        "one",
        ".py",
        "def execute(params, lollms_client_instance):\n  hub = lollms_client_instance\n" +
          "  image = hub.tti.generate_image(prompt='a cat', negative_prompt='', width=64, height=64)\n" +
          "  return {'bytes': [type(image).__name__, image[:4].hex()], 'text': hub.generate_text('say a line', " +
          "n_predict=50)}",
      );
      execute(
        "two",
        ".mjs",
        "export const execute = async (params, hub) => ({ bytes: Buffer.from(await hub.tti.generate_image('a " +
          "cat')).toString('hex', 0, 4), mimeType: (await hub.generateImage('b')).mimeType, text: await " +
          "hub.generateText({ prompt: 'say a line' }) });",
      );
      await started({
        models: {
          language: "here/words",
          image: "here/paint",
          providers: { here: { base_url: `http://127.0.0.1:${port}/v1` } },
        },
      });
      expect(await run("one")).toEqual({ bytes: ["bytes", "89504e47"], text: "a line" });
      expect(await run("two")).toEqual({ bytes: "89504e47", mimeType: "image/png", text: "a line" });
      expect(asked[0]).toMatchObject({ path: "/v1/images/generations", model: "paint", prompt: "a cat" });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

/** One grey pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { createHub } from "../../../packages/toolyard/src/hub/create-hub.ts";
import { createIdentity } from "../identity.ts";

// Attacks that need the hub: rights, the hub's own tools, its other callers.

type TestHub = Awaited<ReturnType<typeof createHub>>;

let home: string;
let hub: TestHub;
let heard: unknown;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "toolyard-attack-hub-"));
  hub = await createHub({
    settings: { sandbox: { runs: 4, memory: "64MiB" } },
    variables: { TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
    registerTools: (tools) => {
      tools.registerTool("vault.open", (args) => ((heard = args), "opened"), { type: "object" }, "Opens the vault.");
      tools.registerTool("plain.echo", (args) => args, { type: "object" }, "Says what it was told.");
    },
  });
}, 60_000);
afterAll(async () => {
  await hub?.close();
  rmSync(home, { recursive: true, force: true });
});

async function valueOf(code: string, through: Pick<TestHub, "call"> = hub, more: JsonObject = {}): Promise<unknown> {
  const outcome = await through.call("execute_code", { language: "javascript", code, ...more });
  return (outcome.result?.["structuredContent"] as JsonObject | undefined)?.["result"];
}

const kindOf = (call: string): string =>
  `let kind = 'none'; try { await ${call} } catch (error) { kind = error.kind }\nkind`;

test.each([
  ["by its name", "tools.vault.open({})"],
  ["by its whole name", "tools('vault.open', {})"],
  ["through the tool that calls tools", "tools.execute_tool({ name: 'vault.open', arguments: {} })"],
  ["through that tool twice", "tools.execute_tool({ name: 'execute_tool', arguments: { name: 'vault.open' } })"],
  ["with a line break behind its name", "tools('vault.open\\n', {})"],
  ["with a NUL behind its name", "tools('vault.open\\0', {})"],
])("S9: code cannot call a tool that its caller may not use: %s", async (_how, call) => {
  heard = undefined;
  const guest = createIdentity(hub, "guest", { deny: ["vault*"] });
  expect(await valueOf(kindOf(call), guest)).not.toBe("none");
  expect(heard).toBeUndefined();
});

test.each([
  ["itself", "tools.execute_code({ language: 'javascript', code: '1' })"],
  [
    "itself through another tool",
    "tools.execute_tool({ name: 'execute_code', arguments: { language: 'javascript', code: '1' } })",
  ],
  [
    "itself through another tool, with spaces",
    "tools.execute_tool({ name: '  execute_code ', arguments: { language: 'javascript', code: '1' } })",
  ],
])("S9: refuses code that runs %s, and frees its slot", async (_what, call) => {
  expect(await valueOf(kindOf(call))).toBe("denied");
});

test("S9: passes keys that are prototypes in other languages to a tool as plain keys", async () => {
  await valueOf(
    'await tools.vault.open(JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\'))',
  );
  expect(JSON.stringify(heard)).toContain("constructor");
  expect("polluted" in {}).toBe(false);
  expect(await valueOf('JSON.parse(\'{"__proto__":{"polluted":1}}\')')).toBeTruthy();
  expect("polluted" in {}).toBe(false);
});

test("S9: answers other calls immediately while endless code uses every slot", async () => {
  const runs = Array.from({ length: 4 }, () =>
    hub.call("execute_code", { language: "javascript", code: "for (;;) {}", timeout_ms: 1500 }),
  );
  expect(await hub.call("plain.echo", { n: 1 })).toMatchObject({ ok: true });
  for (const outcome of await Promise.all(runs))
    expect(outcome).toMatchObject({ ok: false, details: { end: "timeout" } });
  expect(await valueOf("6 * 7")).toBe(42);
});

test("S9: a session belongs to its caller, for any spelling of its name", async () => {
  await valueOf("globalThis.secret = 'mine'; 1", hub, { session: "s" });
  for (const session of ["s", 's"]', '","s', "local"]) {
    expect(await valueOf("typeof secret", createIdentity(hub, "somebody"), { session })).toBe("undefined");
    expect(await valueOf("typeof secret", createIdentity(hub, 'local","s'), { session })).toBe("undefined");
  }
});

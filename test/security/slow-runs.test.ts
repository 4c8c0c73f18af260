// Long runs of one caller next to the first run of others.
import { expect, test } from "vitest";
import { startLegacy } from "../fixtures/http-servers.ts";
import { openTarget, rpc, type Target } from "./attack.ts";

const TOKENS = {
  ann: { token: "t0ken-ann-1" },
  ben: { token: "t0ken-ben-2" },
  eve: { token: "t0ken-eve-3" },
};
type Name = keyof typeof TOKENS;

const headersOf = (name: Name): Record<string, string> => ({
  "content-type": "application/json",
  authorization: `Bearer ${TOKENS[name].token}`,
});

const code = (language: string, text: string): { language: string; code: string } => ({ language, code: text });
const PATH = "/api/tools/execute_code";
const SUM = code("javascript", "40 + 2");

/** Code that calls a tool when it starts, and then sleeps as long as a run may. */
const SLEEPERS = {
  javascript: "await tools.far.echo({ text: 'slow' }); await new Promise((go) => setTimeout(go, 290_000))",
  python: "import asyncio\nawait tools.far.echo(text='slow')\nawait asyncio.sleep(290)",
};

type Surface = (target: Target, name: Name) => Promise<string>;

const SURFACES: Record<string, Surface> = {
  "legacy MCP": async (target, name) =>
    JSON.stringify(await (await target.client(TOKENS[name].token, { era: "legacy" })).tool("execute_code", SUM)),
  "modern MCP": async (target, name) =>
    JSON.stringify(await (await target.client(TOKENS[name].token, { era: "modern" })).tool("execute_code", SUM)),
  REST: async (target, name) =>
    (await target.send({ path: PATH, headers: headersOf(name), body: JSON.stringify(SUM) })).body,
  "JSON-RPC": async (target, name) => {
    const body = rpc("execute_code", SUM);
    return (await target.send({ path: "/jsonrpc", headers: headersOf(name), body })).body;
  },
  python_interpreter: async (target, name) => {
    const body = JSON.stringify({ code: "print(40 + 2)" });
    return (await target.send({ path: "/api/tools/python_interpreter", headers: headersOf(name), body })).body;
  },
};

test.each([
  [1, "python"],
  [2, "javascript"],
] as const)(
  "with %i process(es), two callers run code on every surface while a third caller's %s code sleeps",
  async (workers, language) => {
    await using server = await startLegacy({});
    await using target = await openTarget({
      server: { tokens: TOKENS, workers },
      sandbox: { runs: 4 },
      default_tools: { enable: ["python_interpreter"] },
      mcp: { remote_servers: [{ namespace: "far", url: server.url }] },
    });
    await target.hub.list();
    const body = JSON.stringify({ ...code(language, SLEEPERS[language]), timeout_ms: 300_000 });
    const leaving = new AbortController();
    const init = { method: "POST", headers: headersOf("ann"), body, signal: leaving.signal };
    const sleeping = Array.from({ length: 8 }, () => fetch(`http://127.0.0.1:${target.port}${PATH}`, init));
    let ended = 0;
    const ends = sleeping.map((one) => one.catch(() => {}).then(() => (ended += 1)));
    await expect.poll(() => slow(target), { timeout: 60_000 }).toBe(2);
    for (const name of ["ben", "eve"] as const)
      for (const [surface, run] of Object.entries(SURFACES))
        expect([surface, name, await run(target, name)]).toEqual([surface, name, expect.stringContaining("42")]);
    expect([await slow(target), ended]).toEqual([2, 0]);
    leaving.abort();
    await Promise.all(ends);
  },
  120_000,
);

/** Returns how many runs called the tool at their start, according to the audit of ended calls. */
async function slow(target: Target): Promise<number> {
  return (await target.audit()).split("\n").filter((line) => line.includes("far__echo")).length;
}

import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { HubMCPBinding, StandardMCPBinding } from "../../../packages/toolyard/src/bindings.ts";
import { SourceHub } from "../../../packages/toolyard/src/compat/source-hub.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { bindingsFolder } from "./bindings-folder.ts";

const COMMAND = [process.execPath, fileURLToPath(new URL("../rag/library-server.mjs", import.meta.url))];
const SILENT = { command: [...COMMAND, "silent"], connect_timeout: "1h" };
const logger = SILENT_LOGGER;
const { kept } = bindingsFolder();
const NOT_FOUND = { error: "Tool not found", status_code: 404 };

describe("with a hanging server", () => {
  test("L5: discovery waits for timeout_per_server once", async () => {
    const hub = new SourceHub({
      endpoint: "test",
      logger,
      settings: () => ({ mcp: { stdio_servers: { silent: { ...SILENT, start: "lazy" } } } }),
    });
    kept({ [Symbol.asyncDispose]: () => hub.close() });
    const forSurface = vi.spyOn((await hub.open()).tools, "forSurface");
    const { failures, tools } = await hub.discover({ surface: "binding", force: false, timeoutMs: 300 });
    expect([tools, [...failures.keys()]]).toEqual([[], ["silent"]]);
    expect(forSurface.mock.calls.map(([, , waitMs]) => waitMs! <= 1)).toEqual([true]);
  });

  test.each(["nobody::add_numbers", "nobody::nested::add_numbers", "::add_numbers", "Sílent::where", "silent2::where"])(
    "L12: %j, with an alias that no server has, returns the literal 404 immediately",
    async (name) => {
      const binding = kept(new StandardMCPBinding({ initial_servers: { silent: SILENT } as never, logger }));
      const order: string[] = [];
      const stop = new AbortController();
      const bare = binding.executeTool("add_numbers", {}, { signal: stop.signal }).finally(() => order.push("bare"));
      const result = await binding.executeTool(name, {});
      order.push("alias");
      stop.abort();
      await bare;
      expect([result, order]).toEqual([NOT_FOUND, ["alias", "bare"]]);
    },
  );

  test.each(["", "  ", "silent::", "::"])(
    "L12: %j, which names no tool, returns the literal 404 without waiting for the server",
    async (name) => {
      const binding = kept(new StandardMCPBinding({ initial_servers: { silent: SILENT } as never, logger }));
      expect(await binding.executeTool(name, {})).toEqual(NOT_FOUND);
    },
  );

  test("L12: the whole hub also returns 404 immediately for an alias that no server has", async () => {
    const settings = { mcp: { stdio_servers: { silent: SILENT } } };
    const binding = kept(new HubMCPBinding({ settings, logger }));
    expect(await binding.executeTool("nobody::where", {})).toEqual(NOT_FOUND);
  });

  test("L12: waits for the server with the alias, within the caller's time limit", async () => {
    const initial_servers = { silent: SILENT, good: { command: COMMAND } };
    const binding = kept(new StandardMCPBinding({ initial_servers: initial_servers as never, logger }));
    expect(await binding.executeTool("good::add_numbers", { a: 1, b: 2 })).toMatchObject({ status_code: 200 });
    expect(await binding.executeTool("silent::where", {}, { timeout: "100ms" })).toMatchObject({ status_code: 504 });
  });

  test("L12: an unknown alias stays unknown even if servers cannot start", async () => {
    const initial_servers = { bad: { command: ["toolyard-no-such-program"] } };
    const binding = kept(new StandardMCPBinding({ initial_servers, logger }));
    await binding.discoverTools();
    expect(await binding.executeTool("nobody::where", {})).toEqual(NOT_FOUND);
    expect(await binding.executeTool("bad::where", {})).toMatchObject({ status_code: 503 });
  });
});

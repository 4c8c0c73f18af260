import { expect, test } from "vitest";
import { resolveSandbox } from "./options.ts";

test("has a default for every option", () => {
  expect(resolveSandbox()).toEqual({
    pythonEngine: "embedded",
    javascriptEngine: "embedded",
    limits: {
      wallMs: 30_000,
      cpuMs: 10_000,
      memoryBytes: 256 * 1024 ** 2,
      outputBytes: 256 * 1024,
      resultBytes: 1024 ** 2,
      toolCalls: 1000,
      concurrentToolCalls: 8,
      toolBytes: 8 * 1024 ** 2,
      fileBytes: 16 * 1024 ** 2,
      files: 64,
    },
    maxWallMs: 300_000,
    runs: 4,
    queue: 32,
    idleMs: 300_000,
    sessions: 8,
    sessionIdleMs: 600_000,
    python: "python3",
    deno: "deno",
  });
});

test("applies given values; a default time above the maximum raises the maximum", () => {
  const options = resolveSandbox({
    timeout: "10m",
    memory: "64MiB",
    output: 1000,
    tool_calls: 0,
    python_wasm: "/opt/python.wasm",
  });
  expect(options).toMatchObject({
    maxWallMs: 600_000,
    pythonWasm: "/opt/python.wasm",
    limits: { wallMs: 600_000, memoryBytes: 64 * 1024 ** 2, outputBytes: 1000, toolCalls: 0 },
  });
});

test("uses one engine for all languages, except those that name another engine", () => {
  expect(resolveSandbox({ engine: "bwrap" })).toMatchObject({ pythonEngine: "bwrap", javascriptEngine: "bwrap" });
  expect(resolveSandbox({ engine: "bwrap", python_engine: "bwrap-python" })).toMatchObject({
    pythonEngine: "bwrap-python",
    javascriptEngine: "bwrap",
  });
  expect(resolveSandbox({ javascript_engine: "deno" })).toMatchObject({
    pythonEngine: "embedded",
    javascriptEngine: "deno",
  });
});

test.each([
  [{ timeout: "0s" }, "`timeout` must be above 0"],
  [{ memory: "1MiB" }, "`memory` must be between 32MiB and 4GiB"],
  [{ memory: "5GiB" }, "`memory` must be between 32MiB and 4GiB"],
  [{ result: "1GiB" }, "`result` must be at most 256MiB"],
  [{ runs: 0 }, "`runs` must be a whole number from 1 to 64"],
  [{ parallel_tool_calls: 1.5 }, "`parallel_tool_calls` must be a whole number"],
])("rejects %o", (config, words) => {
  expect(() => resolveSandbox(config)).toThrow(words);
});

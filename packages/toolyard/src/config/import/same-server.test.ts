import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json/json.ts";
import { differenceOf, isLimited, runsSame, twinOf } from "./same-server.ts";

const SERVER: JsonObject = { command: "npx", args: ["-y", "files"] };

describe("differenceOf", () => {
  test.each([
    ["enabled", { enabled: false }],
    ["include", { include: ["read"] }],
    ["exclude", { exclude: ["delete"] }],
    ["cwd", { cwd: "/srv" }],
    ["timeout", { timeout: "5s" }],
    ["connect_timeout", { connect_timeout: "5s" }],
    ["total_timeout", { total_timeout: "1m" }],
    ["tool_timeouts", { tool_timeouts: { read: "1m" } }],
    ["inherit_env", { inherit_env: ["TOKEN"] }],
    ["env_file", { env_file: "/srv/.env" }],
    ["validation", { validation: "off" }],
    ["unlisted", { unlisted: true }],
    ["roots", { roots: ["/srv"] }],
  ])("names `%s` if only one of two servers has it", (key, setting) => {
    const expected = `other settings of the same command: \`${key}\``;
    expect(differenceOf({ ...SERVER, ...setting }, SERVER)).toBe(expected);
    expect(differenceOf(SERVER, { ...SERVER, ...setting })).toBe(expected);
    expect(differenceOf({ ...SERVER, ...setting }, { ...SERVER, ...setting })).toBeUndefined();
  });

  test.each([
    ["a default", { enabled: true, include: [], exclude: [], args: ["-y", "files"] }, {}],
    ["the form of a duration", { timeout: 30_000 }, { timeout: "30s" }],
    ["the default time to connect", { connect_timeout: "30s" }, {}],
    ["the order of a list of tools", { exclude: ["a", "b"] }, { exclude: ["b", "a"] }],
    ["empty tables", { env: {} }, { env: Object.create(null) as object }],
    ["options that no client has", { start: "lazy", namespace: "f", idle_stop: "1m" }, {}],
  ])("ignores %s", (_what, here, there) => {
    expect(differenceOf({ ...SERVER, ...here }, { ...SERVER, ...there })).toBeUndefined();
  });

  test("does not show the values of variables and headers", () => {
    expect(differenceOf({ ...SERVER, env: { T: "secret" } }, SERVER)).toBe(
      "other variables or headers of the same command",
    );
  });

  test("compares a token with the header that it becomes, and header names case-insensitively", () => {
    const remote = { url: "https://example.com/mcp" };
    const named = { ...remote, headers: { Authorization: "Bearer ${T}" } };
    expect(differenceOf({ ...remote, token: "${T}" }, named)).toBeUndefined();
    expect(differenceOf({ ...remote, token: "${U}" }, named)).toContain("headers");
    expect(
      differenceOf({ ...remote, headers: { "X-A": "1" } }, { ...remote, headers: { "x-a": "1" } }),
    ).toBeUndefined();
  });

  test("compares the parts of a URL that is written as host and port", () => {
    const here = { host: "a", port: 1 };
    expect(differenceOf(here, { host: "a", port: 1 })).toBeUndefined();
    expect(differenceOf(here, { host: "a", port: 2 })).toBeDefined();
  });
});

test("finds an equal server only if all its settings are equal", () => {
  const others = new Map([
    ["off", { ...SERVER, enabled: false }],
    ["twin", SERVER],
  ]);
  expect(twinOf(SERVER, others)).toBe("twin");
  expect(twinOf({ ...SERVER, exclude: ["x"] }, others)).toBeUndefined();
});

test("treats a server as limited if it is disabled or selects tools, and not if other options differ", () => {
  expect([{ enabled: false }, { include: ["a"] }, { exclude: ["a"] }].map(isLimited)).toEqual([true, true, true]);
  expect([{}, { enabled: true }, { cwd: "/srv" }, { include: [] }].map(isLimited)).toEqual(Array(4).fill(false));
  expect(runsSame({ command: "npx -y files" }, SERVER)).toBe(true);
});

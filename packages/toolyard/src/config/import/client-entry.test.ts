import { describe, expect, test } from "vitest";
import { toPlainEntry } from "./client-entry.ts";

const context = {
  syntax: {},
  program: "Client",
  variables: {},
  resolveFile: (path: string) => path,
  pathSeparator: "/",
};
const plain = (entry: object) => toPlainEntry({ command: "x", ...entry }, context);

describe("a client's own settings", () => {
  test.each([
    [{ enabled: false }, { enabled: false }],
    [{ enabled: true, disabled: true }, { enabled: false }],
    [{ includeTools: ["a"] }, { include: ["a"] }],
    [{ enabled_tools: [] }, { exclude: ["*"] }],
    [{ tools: ["*"] }, {}],
    [{ tools: ["a"] }, { include: ["a"] }],
    [{ tools: [] }, { exclude: ["*"] }],
    [{ disabledTools: ["a"], excludeTools: ["b"] }, { exclude: ["b", "a"] }],
    [{ includeTools: ["a", "b"], enabled_tools: ["b", "c"] }, { include: ["b"] }],
    [
      { includeTools: ["a"], enabled_tools: ["c"] },
      { include: ["c"], exclude: ["*"] },
    ],
    [
      { tool_timeout_sec: 5, startup_timeout_ms: 9 },
      { timeout: "5s", connect_timeout: "9ms" },
    ],
    [{ env_vars: ["A"] }, { inherit_env: ["A"] }],
    [{ envFile: "/e" }, { env_file: "/e" }],
  ])("converts %j to %j", (entry, options) => {
    expect(plain(entry)).toMatchObject({ options, uncarried: [] });
    expect(Object.keys(plain(entry).options)).toEqual(Object.keys(options));
  });

  test.each([
    { autoApprove: ["read"] },
    { alwaysAllow: ["read"] },
    { trust: true },
    { oauth: { clientId: "x" } },
    { sandbox: true },
    { enabled_tools: "read" },
    { env_vars: [{ name: "A" }] },
    { disabled: "true" },
    { timeout: "30s" },
    { type: "ws" },
    { headersHelper: "/bin/h" },
    { tools: { read: { approval_mode: "approve" } } },
    { anyKeyOfTomorrow: 1 },
  ])("cannot convert %j", (entry) => {
    expect(plain(entry).uncarried).toEqual(Object.keys(entry));
  });

  test.each([
    { autoApprove: [] },
    { alwaysAllow: null },
    { trust: false },
    { description: "Files", icon: "f.png", version: "1", gallery: true },
    { type: "stdio" },
    { type: "streamable-http" },
    { timeout: 30, cwd: "/srv", env: {}, args: [] },
    { source: "custom", alwaysLoad: true, deferTools: "never" },
  ])("converts %j without loss", (entry) => {
    expect(plain(entry).uncarried).toEqual([]);
  });
});

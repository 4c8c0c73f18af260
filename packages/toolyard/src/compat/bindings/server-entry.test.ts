import { describe, expect, test } from "vitest";
import { readStdioEntry } from "./server-entry.ts";

const COMMAND = ["node", "calc.mjs"];

describe("readStdioEntry", () => {
  test.each([
    ["type of a stdio server", { command: COMMAND, type: "stdio" }, { command: COMMAND }],
    ["transport of a stdio server", { command: COMMAND, transport: "stdio" }, { command: COMMAND }],
    ["type `local` (OpenCode)", { command: COMMAND, type: "local" }, { command: COMMAND }],
    ["disabled", { command: "node", disabled: true }, { command: "node", enabled: false }],
    ["disabled: false", { command: "node", disabled: false }, { command: "node" }],
    ["a command as an object", { command: { path: "node", args: ["x"] } }, { command: "node", args: ["x"] }],
    ["environment (OpenCode)", { command: COMMAND, environment: { A: "1" } }, { command: COMMAND, env: { A: "1" } }],
    ["envFile (VS Code)", { command: "node", envFile: ".env" }, { command: "node", env_file: ".env" }],
    ["disabledTools (Kiro)", { command: "node", disabledTools: ["x"] }, { command: "node", exclude: ["x"] }],
    ["tool_timeout_sec (Codex)", { command: "node", tool_timeout_sec: 90 }, { command: "node", timeout: "90s" }],
    ["camelCase of an own option", { command: "node", connectTimeout: 5 }, { command: "node", connect_timeout: 5 }],
    ["null as absent", { command: "node", cwd: null, env: null, args: null }, { command: "node" }],
    [
      "scalars in env and args",
      { command: "node", args: [1], env: { A: 2, B: true, C: null } },
      { command: "node", args: ["1"], env: { A: "2", B: "true" } },
    ],
  ])("understands %s", (_what, given, server) => {
    expect(readStdioEntry(given)).toEqual({ server, ignored: [] });
  });

  test.each(["autoApprove", "alwaysAllow", "gallery", "source", "trust", "description", "icon", "x-own", "名前"])(
    "ignores the key %s of a client and reports it",
    (key) => {
      expect(readStdioEntry({ command: COMMAND, [key]: [] })).toEqual({ server: { command: COMMAND }, ignored: [key] });
    },
  );

  test.each([
    [{ command: COMMAND, type: "sse" }, '`type` is "sse"'],
    [{ command: COMMAND, transport: "streamable-http" }, '`transport` is "streamable-http"'],
    [{ url: "http://x/mcp" }, "`url`"],
    [{ type: "http", httpUrl: "http://x/mcp" }, "`httpUrl`"],
    [{ serverUrl: "http://x/mcp" }, "`serverUrl`"],
  ])("refuses %j, which is a remote server", (given, words) => {
    expect(() => readStdioEntry(given)).toThrow(words);
    expect(() => readStdioEntry(given)).toThrow("RemoteMCPBinding");
  });

  test.each([
    ["comand", "command"],
    ["inherit_en", "inherit_env"],
    ["conect_timeout", "connect_timeout"],
  ])("refuses the misspelt option %s and suggests %s", (key, option) => {
    expect(() => readStdioEntry({ command: COMMAND, [key]: [] })).toThrow(`Did you mean \`${option}\`?`);
  });

  test.each([["text"], [[]], [null], [7], [undefined]])("refuses %j, which is not an object", (given) => {
    expect(() => readStdioEntry(given)).toThrow("A server must be an object");
  });
});

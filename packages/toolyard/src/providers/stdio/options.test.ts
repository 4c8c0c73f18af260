import { expect, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import { splitWords } from "./command-words.ts";
import { resolveStdioServer } from "./options.ts";

test.each([
  ["npx -y server", ["npx", "-y", "server"]],
  ["  node   'my server.js' ", ["node", "my server.js"]],
  ['sh -c "echo \\"hi\\" \\$HOME \\n"', ["sh", "-c", 'echo "hi" $HOME \\n']],
  ["a\\ b c''d \"\"", ["a b", "cd", ""]],
  ["run 'a|b;c'", ["run", "a|b;c"]],
])("L50: splits the command %j like a shell", (text, words) => {
  expect(splitWords(text, "linux")).toEqual(words);
});

test.each(["a | b", "a; b", "a && b", "a > f", "a 'b", 'a "b', "a \\"])(
  "rejects a command with shell-only syntax: %j",
  (text) => {
    expect(() => splitWords(text, "linux")).toThrow(OptionError);
  },
);

test("keeps a backslash as part of a path on Windows", () => {
  expect(splitWords("C:\\tools\\server.exe --fast", "win32")).toEqual(["C:\\tools\\server.exe", "--fast"]);
});

test("gives the same program for a list and a string; with args, a string is only the program", () => {
  expect(resolveStdioServer({ command: ["node", "a b.js"] })).toMatchObject({ command: "node", args: ["a b.js"] });
  expect(resolveStdioServer({ command: "node 'a b.js'" })).toMatchObject({ command: "node", args: ["a b.js"] });
  expect(resolveStdioServer({ command: "/opt/my tools/server", args: ["-v"] })).toMatchObject({
    command: "/opt/my tools/server",
    args: ["-v"],
  });
});

test("returns complete and frozen options with defaults", () => {
  const { upstream } = resolveStdioServer({ command: "node" });
  expect(Object.isFrozen(upstream)).toBe(true);
  expect(upstream).toMatchObject({
    enabled: true,
    connectTimeoutMs: 30_000,
    maxConcurrent: Infinity,
    maxMessageBytes: 32 * 1024 * 1024,
    maxMessageParts: 600_000,
    isolation: "auto",
    era: "auto",
    maxSessions: 32,
    start: "eager",
    idleStopMs: 600_000,
    shape: { visibility: "native", instructions: true, include: [], pins: {} },
    limits: {},
  });
});

test.each([
  [{ command: "" }, "command"],
  [{ command: "  " }, "command"],
  [{ command: "node", timeout: 0 }, "timeout"],
  [{ command: "node", connect_timeout: "soon" }, "connect_timeout"],
  [{ command: "node", max_sessions: 0 }, "max_sessions"],
  [{ command: "node", max_message_bytes: 10 }, "max_message_bytes"],
  [{ command: "node", max_message_parts: 10 }, "max_message_parts"],
  [{ command: "node", rename: { a: "c", b: "c" } }, "rename"],
])("rejects invalid options by name: %j", (options, name) => {
  expect(() => resolveStdioServer(options)).toThrow(new RegExp(`\`${name}\``));
});

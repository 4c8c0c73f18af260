// Secrets in configuration files, which the settings of the console hide and restore.
import { expect, test } from "vitest";
import { TomlDocument } from "../../packages/toolyard/src/config/edit/toml-document.ts";
import { CONFIG_SCHEMA } from "../../packages/toolyard/src/hub/schema.ts";
import { Redactor } from "../../packages/toolyard/src/telemetry/redactor.ts";
import {
  assertStillHidden,
  hideValues,
  showValues,
  type SecretRules,
} from "../../packages/toolyard/src/features/console/settings/hidden-values.ts";

const redactor = new Redactor();
redactor.add("known-elsewhere-7");
const RULES: SecretRules = { schema: CONFIG_SCHEMA, redactFacts: (facts) => redactor.facts(facts) };

const parse = (text: string): Promise<TomlDocument> => TomlDocument.parse("toolyard.toml", text);

test.each([
  ["an option that is declared as a secret", '[server]\ntoken = "abc"\n', "abc"],
  ["a short secret in single quotes", "[server.tokens.ops]\ntoken = 't1'\n", "t1"],
  ["a secret of several lines", '[server]\ntoken = """\nab\ncd"""\n', "cd"],
  ["a variable by its name", '[mcp.stdio_servers.a]\ncommand = "x"\nenv = { API_KEY = "zz1" }\n', "zz1"],
  ["a header", '[[mcp.remote_servers]]\nurl = "https://x"\nheaders = { Authorization = "Bearer q9" }\n', "q9"],
  ["an argument", '[mcp.stdio_servers.a]\ncommand = ["x", "--token=sk-0123456789abcdefXY"]\n', "sk-0123456789abcdefXY"],
  [
    "an argument after its option",
    '[mcp.stdio_servers.a]\ncommand = ["x", "--api-key", "hunter2hunter2"]\n',
    "hunter2",
  ],
  ["a password in args", '[mcp.stdio_servers.a]\ncommand = "x"\nargs = ["--password", "sunshine7"]\n', "sunshine7"],
  ["a password in a URL", '[[mcp.remote_servers]]\nurl = "https://u:pw12345@x.example/mcp"\n', "pw12345"],
  ["a default of a reference", '[server]\ntoken = "${TOKEN:-fallback1}"\n', "fallback1"],
  ["text next to a reference", '[server]\ntoken = "prefix1${TOKEN}"\n', "prefix1"],
  ["a known secret under another name", '[logging]\nfile = "known-elsewhere-7"\n', "known-elsewhere-7"],
  ["an option in a comment", '[server]\n# token = "old1"\nport = 1\n', "old1"],
  ["a table in a comment", '[server]\n# a = { port = "1", token = "old2" } # or so\nport = 1\n', "old2"],
  ["a key in a comment", "# see sk-0123456789abcdefXY\n[server]\nport = 1\n", "sk-0123456789abcdefXY"],
  ["a dotted key", 'server.token = "dd1"\n', "dd1"],
  ["an inline table", 'server = { token = "ii1", port = 1 }\n', "ii1"],
])("hides %s and restores the same text", async (_name, text, secret) => {
  const { text: hidden, secrets } = hideValues(await parse(text), RULES);
  expect(hidden).not.toContain(secret);
  expect(hidden).toMatch(/"<secret 1 of [0-9a-f]{8}>"/);
  await parse(hidden);
  expect(showValues(hidden, secrets)).toBe(text);
});

test.each([
  '[server]\ntoken = "${TOKEN}"\n',
  '[server]\ntoken = "${env:TOKEN}"\n',
  '[server]\ntoken = { file = "token.txt" }\n',
  '[[mcp.remote_servers]]\nurl = "https://x.example/mcp"\nheaders = { Authorization = "Bearer ${TOKEN}" }\n',
  '[server]\nport = 8808\nhost = "127.0.0.1"\n# A comment: port = 1, don\'t.\n',
  '[mcp.stdio_servers.a]\ncommand = ["npx", "-y", "server-memory"]\nenv = { MODE = "production" }\n',
  '[mcp.stdio_servers.a]\ncommand = ["x", "--port", "8080", "--token-file", "/run/token", "--verbose", "yes"]\n',
  '[mcp.stdio_servers.a]\ncommand = ["x", "--api-key", "${KEY}", "--key", "--other"]\n',
  '[console]\nadmins = ["token:ops", "role:admin", "user:key"]\n',
  "# no values\n",
])("shows a file without secrets as it is: %j", async (text) => {
  expect(hideValues(await parse(text), RULES)).toEqual({ text, secrets: new Map() });
});

const TWO = '[server.tokens]\na = { token = "one-1" }\nb = { token = "two-2" } # note\n';

test("restores each secret in an edited text, also if it was moved to another secret option", async () => {
  const { text, secrets } = hideValues(await parse(TWO), RULES);
  const [first, second] = [...secrets.keys()];
  const edited = text.replace(first!, "@").replace(second!, first!).replace("@", second!);
  const restored = showValues(edited, secrets);
  expect(restored).toBe(TWO.replace("one-1", "@").replace("two-2", "one-1").replace("@", "two-2"));
  assertStillHidden(edited, await parse(restored), { secrets, rules: RULES });
});

test.each([
  ["an option that is shown", (placeholder: string) => `[logging]\nfile = "${placeholder}"\n`],
  ["a comment", (placeholder: string) => `# note = "${placeholder}"\n`],
  ["a name of a table", (placeholder: string) => `[mcp.stdio_servers."${placeholder}"]\ncommand = "x"\n`],
])("refuses a secret that was moved to %s", async (_name, added) => {
  const { text, secrets } = hideValues(await parse(TWO), RULES);
  const edited = text + added([...secrets.keys()][0]!);
  const restored = await parse(showValues(edited, secrets));
  expect(() => assertStillHidden(edited, restored, { secrets, rules: RULES })).toThrow("is not the place of one");
});

test.each([
  ["of another version", "<secret 1 of 00000000>"],
  ["with another number", "<secret 9 of VERSION>"],
  ["inside another value", "Bearer <secret 1 of VERSION>"],
])("refuses a placeholder %s", async (_name, value) => {
  const { text, secrets } = hideValues(await parse(TWO), RULES);
  const version = /of ([0-9a-f]{8})/.exec(text)![1]!;
  const edited = `${text}c = { token = "${value.replace("VERSION", version)}" }\n`;
  expect(() => showValues(edited, secrets)).toThrow("The placeholder");
});

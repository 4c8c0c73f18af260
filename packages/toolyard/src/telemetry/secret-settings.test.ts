import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { declaredSecrets, isPlainValue, settingSecrets } from "./secret-settings.ts";

const ORDINARY: readonly (readonly [string, string])[] = [
  ["AWS_PROFILE", "default"],
  ["NODE_ENV", "production"],
  ["LOG_LEVEL", "verbose"],
  ["PLAYWRIGHT_BROWSER", "chromium"],
  ["MODEL", "claude-sonnet-4-20250514"],
  ["EMBEDDING_MODEL", "text-embedding-3-large"],
  ["AWS_REGION", "eu-central-1"],
  ["DATABASE_URL", "postgres://db.example.com:5432/customers"],
  ["API_BASE_URL", "https://api.example.com/v1/projects?limit=100000"],
  ["HOME_FOLDER", "/home/ada/projects/toolyard"],
  ["CACHE", "C:\\Users\\Ada\\AppData\\Local\\Temp"],
  ["ALLOWED", "/srv/data:/srv/more:/var/lib/thing"],
  ["MAX_BYTES", "1073741824"],
  ["TIMEOUT", "120000ms"],
  ["VERSION", "2026.8.31-beta.2"],
  ["STARTED", "2026-11-26T14:30:00.000Z"],
  ["DEBUG", "mcp:*,transport"],
  ["HEADLESS", "undefined"],
  ["ROLE_ARN", "arn:aws:iam::123456789012:role/ReadOnlyAccess"],
  ["NODE_OPTIONS", "--max-old-space-size=4096 --enable-source-maps"],
  ["USER_AGENT", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"],
  ["MOTTO", "The quick brown fox jumps over the lazy dog"],
  ["TITEL", "Übersichtsseite"],
  ["OPENAPI_SETTINGS", '{"timeout":30000,"style":"production","nested":{"mode":"default"}}'],
  // Names that mention a secret, with values that only describe it.
  ["TOKEN_LIMIT", "100000"],
  ["TOKEN_TYPE", "oauth2"],
  ["AUTH_MODE", "client_credentials"],
  ["API_KEY_HEADER", "X-Api-Key"],
  ["SECRET_NAME", "prod/database"],
  ["KEY_ALGORITHM", "sha256"],
  ["SSH_KEY", "/home/ada/.ssh/id_ed25519"],
  ["GOOGLE_APPLICATION_CREDENTIALS", "./keys/service-account.json"],
  ["GOOGLE_CREDENTIALS", "C:\\keys\\service-account.json"],
  ["SORT_KEY", "createdAt"],
  ["PASSWORD", "required"],
  ["REQUIRE_TOKEN", "enabled"],
  ["NEXT_PAGE_TOKEN", "abcdef"],
  ["MONKEY", "abc-123-def"],
  ["KEYBOARD", "qwertz-de-105"],
  ["AUTHOR", "j.doe-42x"],
  ["COMPASS", "north1-x"],
];

test.each(ORDINARY)("does not treat %s=%s as a secret", (name, value) => {
  expect(settingSecrets(name, value)).toEqual([]);
});

const HEX = "9f86d081884c7d659a2feaa0c55ad015";
const SECRET: readonly (readonly [string, string, string])[] = [
  ["DB_PASSWORD", "sunshine", "sunshine"],
  ["PGPASSWORD", "hunter2", "hunter2"],
  ["SMTP_PASS", "a b c d e", "a b c d e"],
  ["GITHUB_TOKEN", "ghp_x", "ghp_x"],
  ["githubToken", "some-words-joined", "some-words-joined"],
  ["GITHUB_PAT", "short1", "short1"],
  ["OPENAI_API_KEY", "letmein1", "letmein1"],
  ["apiKey", "letmein1", "letmein1"],
  ["AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
  ["X-Api-Key", "letmein1", "letmein1"],
  ["Authorization", "Bearer abc.def", "Bearer abc.def"],
  ["Cookie", "sid=ordinary; theme=dark", "sid=ordinary; theme=dark"],
  ["TELEGRAM_TOKEN", "83920174655", "83920174655"],
  ["OPENAI_KEY", "xk-42-zz", "xk-42-zz"],
  ["KEY", "k-secret", "k-secret"],
  ["SERVICE_AUTH", "u53r:pw", "u53r:pw"],
  ["CREDENTIALS", "ada:l0velace", "ada:l0velace"],
  ["SECRET_VALUE", "xq-99-zk", "xq-99-zk"],
  ["TENANT", HEX, HEX],
  ["TENANT", "72f988bf-86f1-41af-91ab-2d7cd011db47", "72f988bf-86f1-41af-91ab-2d7cd011db47"],
  ["DATABASE_URL", "postgres://ada:hunter2@db.example.com/customers", "hunter2"],
  ["DATABASE_URL", "postgres://ada:p%40ss-w0rd@db.example.com/customers", "p@ss-w0rd"],
  ["SENTRY_DSN", `https://${HEX}@o1.example.com/42`, HEX],
  ["WEBHOOK", `https://hooks.example.com/services/T024BE7LD/${HEX}`, HEX],
  ["ENDPOINT", "https://api.example.com/?api_key=letmein1&lang=en", "letmein1"],
  ["DSN", "host=db.example.com user=ada password=hunter2 sslmode=require", "hunter2"],
  ["OPTIONS", `--verbose --anything=${HEX}`, HEX],
  ["OPENAPI_MCP_HEADERS", '{"Authorization":"Bearer ntn_42","Notion-Version":"2022-06-28"}', "Bearer ntn_42"],
  ["SETTINGS", '{"db":{"password":"sunshine"}}', "sunshine"],
  ["WHATEVER", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"],
  ["WHATEVER", "sk-proj-abcdefghijklmnopqrst", "sk-proj-abcdefghijklmnopqrst"],
];

test.each(SECRET)("finds the secret in %s=%s", (name, value, secret) => {
  expect(settingSecrets(name, value)).toContain(secret);
});

test("finds the secret in JSON headers, and keeps their other values", () => {
  const value = '{"Authorization":"Bearer ntn_42","Notion-Version":"2022-06-28"}';
  expect(settingSecrets("OPENAPI_MCP_HEADERS", value)).toEqual(["Bearer ntn_42"]);
});

test("treats the value of a reference as a secret unless it is an ordinary word", () => {
  expect(settingSecrets("X-Workspace", "ws-77-qz", "mentioned")).toEqual(["ws-77-qz"]);
  expect(settingSecrets("X-Workspace", "production", "mentioned")).toEqual([]);
  expect(settingSecrets("X-Workspace", "ws-77-qz")).toEqual([]);
});

describe("declared options", () => {
  test.each(["sunshine", "83920174655", "correct-horse-battery-staple", `Bearer ${HEX}`])(
    "treats %s as a secret",
    (value) => {
      expect(declaredSecrets(value)).toContain(value);
    },
  );

  test("finds no secret in a proxy URL without a password, and the password in one with a password", () => {
    expect(declaredSecrets("http://proxy.example.com:3128")).toEqual([]);
    expect(declaredSecrets("http://ada:hunter2@proxy.example.com:3128")).toEqual(["hunter2"]);
    expect(declaredSecrets("https://hooks.example.com/services/42")).toEqual(["https://hooks.example.com/services/42"]);
  });
});

test.each(["default", "Production", "100000", "/home/ada/x", "C:\\temp", "true", "camelCase"])(
  "%s is a plain value that definitions keep",
  (value) => {
    expect(isPlainValue(value)).toBe(true);
  },
);

test.each(["hunter2", "hush-hush", HEX, "xkqzwvbn"])("%s is not a plain value", (value) => {
  expect(isPlainValue(value)).toBe(false);
});

test("finds at least 997 of 1,000 random keys in every common alphabet under an ordinary name", () => {
  const random = seededBytes(42);
  const missed: string[] = [];
  for (let round = 0; round < 1_000; round += 1) {
    const encoding = (["hex", "base64url", "base64"] as const)[round % 3]!;
    const value = random(24 + (round % 24)).toString(encoding);
    // A value that starts with a slash counts as a path.
    if (!value.startsWith("/") && !settingSecrets("WORKSPACE", value).includes(value)) missed.push(value);
  }
  expect(missed.length).toBeLessThan(4);
});

/** Returns the same bytes in every run (mulberry32). */
function seededBytes(seed: number): (length: number) => Buffer {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) & 0xff;
  };
  return (length) => Buffer.from(Array.from({ length }, next));
}

test("finds no secret in ordinary words, unless the name indicates one", () => {
  const word = fc.constantFrom(
    ..."default production memory read write browser chromium selector project folder eu-west-1 oauth2 version2".split(
      " ",
    ),
  );
  const value = fc
    .array(word, { minLength: 1, maxLength: 6 })
    .chain((words) => fc.constantFrom(" ", "-", "_", "/", ",", ":").map((separator) => words.join(separator)));
  fc.assert(
    fc.property(
      value,
      fc.constantFrom("PROFILE", "LOG_LEVEL", "AUTH_MODE", "TOKEN_TYPE", "KEY_NAMES"),
      (text, name) => {
        expect(settingSecrets(name, text)).toEqual([]);
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});

import { describe, expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import { Redactor } from "./redactor.ts";
import { isSecretName } from "./secret-patterns.ts";

test("S14: hides a registered secret in all its encodings", () => {
  const redactor = new Redactor();
  const secret = 'pa"ss/wörd&1';
  expect(redactor.add(secret)).toBe(true);
  const forms = [
    secret,
    JSON.stringify({ a: secret }),
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64"),
  ];
  for (const form of forms) expect(redactor.text(`before ${form} after`)).toMatch(/^before .*\*\*\*.* after$/);
  for (const form of forms) expect(redactor.text(form)).not.toContain("wörd");
});

test("S14: replaces the longer of two secrets as a whole if it contains the other", () => {
  const redactor = new Redactor();
  redactor.add("secret-a");
  redactor.add("secret-a-and-more");
  expect(redactor.text("x secret-a-and-more y secret-a z")).toBe("x *** y *** z");
});

test("S14: refuses a secret of a few letters, because replacing it would damage ordinary words", () => {
  const redactor = new Redactor();
  expect(redactor.add("true")).toBe(false);
  expect(redactor.text("it is true")).toBe("it is true");
});

test("S14: treats pattern characters in a secret literally", () => {
  const redactor = new Redactor();
  redactor.add(".*.*.*.*");
  expect(redactor.text("plain .*.*.*.* text")).toBe("plain *** text");
});

test("does not replace secrets after `clear`", () => {
  const redactor = new Redactor();
  redactor.add("old-secret");
  redactor.clear();
  expect(redactor.text("old-secret")).toBe("old-secret");
});

test.each([
  ["Authorization: Bearer abc.def-ghi", "abc.def-ghi"],
  ["authorization=bearer super-secret", "super-secret"],
  ["Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"],
  ["https://user:hunter2@example.com/x", "hunter2"],
  ["https://user:p@ss@example.com/x", "p@ss"],
  ["GET /?access_token=hunter2&x=1", "hunter2"],
  ["GET /?x=1&sig=hunter2", "hunter2"],
  ["API_KEY=hunter2 node server.js", "hunter2"],
  ['--password="hunter two"', "hunter two"],
  ['{"client_secret": "hunter2", "a": 1}', "hunter2"],
  ["password: hunter2", "hunter2"],
  ["key sk-abcdefghijklmnopqrstuv", "abcdefghijklmnop"],
  ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnop"],
  ["AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "eyJzdWIiOiIxIn0"],
  ["session-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "eyJzdWIiOiIxIn0"],
  ["id.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "eyJzdWIiOiIxIn0"],
  ["eyJ-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", "eyJzdWIiOiIxIn0"],
  [`eyJ${"a".repeat(3000)}.eyJzdWIiOiIxIn0.abcdefghijk`, "eyJzdWIiOiIxIn0"],
  ["x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", "eyJzdWIiOiIxIn0"],
  ["a.b.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "abcdefghijk"],
  ["password:correct-horse,1", "correct"],
])("S14: hides the credential in %s", (text, secret) => {
  expect(new Redactor().text(text)).not.toContain(secret);
});

test("S14: replaces a long token, and a secret inside a long word", () => {
  const texts = [`eyJ${"a".repeat(5000)}.eyJ${"b".repeat(9000)}.ccc`, `token: ${"a".repeat(300)}secret:hunter2`];
  expect(texts.map((text) => new Redactor().text(text))).toEqual(["***", "token: ***"]);
});

test.each([
  "Missing required parameter: password",
  "`token` must be a string, got a number",
  'Unknown parameter: api_key (accepted: one of "a", "b")',
  "the token: expired an hour ago",
  "http://127.0.0.1:8808/mcp",
  "mail to a@b.de about https://example.com/?page=2",
  "files__read is done",
])("keeps the plain words %s", (text) => {
  expect(new Redactor().text(text)).toBe(text);
});

test("S14: replaces values under a name that indicates a secret, at any depth", () => {
  const facts = {
    headers: { Authorization: "x", "X-Api-Key": ["y"], accept: "z" },
    env: { GITHUB_TOKEN: "t" },
    progressToken: "p",
    tokens: 5,
    credentials: { user: "u" },
    password: "",
  };
  expect(new Redactor().facts(facts)).toEqual({
    headers: { Authorization: "***", "X-Api-Key": ["***"], accept: "z" },
    env: { GITHUB_TOKEN: "***" },
    progressToken: "p",
    tokens: 5,
    credentials: { user: "***" },
    password: "",
  });
  expect(facts.headers.Authorization).toBe("x");
});

test.each(["token", "accessToken", "API_KEY", "x-api-key", "client-secret", "Set-Cookie", "passphrase"])(
  "%s is a name that indicates a secret",
  (name) => {
    expect(isSecretName(name)).toBe(true);
  },
);

test.each(["progressToken", "tokens", "maxTokens", "key", "author", "secretary"])(
  "%s is a name that indicates no secret",
  (name) => {
    expect(isSecretName(name)).toBe(false);
  },
);

test.each([
  "bearer ".repeat(30_000),
  "bearer" + " ".repeat(200_000),
  "://".repeat(70_000),
  `://${"a".repeat(200_000)}`,
  `${"-eyJ".repeat(500)}.`.repeat(100),
  "eyJ-".repeat(1_000_000),
  "eyJaaaaaaaa.".repeat(100_000),
  "password:".repeat(400_000),
  "password:aaaaaa,".repeat(60_000),
  '"password":"'.repeat(20_000),
  `"${"a".repeat(200_000)}`,
  "password=".repeat(20_000),
  "password: ".repeat(20_000),
  "basic aaaaaaaa ".repeat(15_000),
  "sk-".repeat(70_000),
  "token".repeat(40_000),
])("S18: searches hostile text in linear time", (text) => {
  const redactor = new Redactor();
  for (let index = 0; index < 200; index += 1) redactor.add(`secret-number-${index}`);
  const startedAt = cpuMs();
  redactor.text(text);
  expect(cpuMs() - startedAt).toBeLessThan(2500);
});

test("S14: replaces the current secrets of each owner, and no longer the earlier secrets of an owner", () => {
  const redactor = new Redactor();
  const [owner, other] = [{ source: "a" }, { source: "b" }];
  redactor.add("configured");
  redactor.replace(owner, ["first-one"]);
  redactor.replace(other, ["other-one"]);
  redactor.replace(owner, ["second-one"]);
  expect(redactor.text("configured first-one second-one other-one")).toBe("*** first-one *** ***");
  redactor.replace(owner, []);
  expect(redactor.text("second-one other-one configured")).toBe("second-one *** ***");
});

describe("whole words", () => {
  test.each([
    ["letmein", "the letmein-hotel and letmein.", "the ***-hotel and ***."],
    ["letmein", "letmeinside, xletmein, letmein2 and überletmein", "letmeinside, xletmein, letmein2 and überletmein"],
    ["sunshine", "Sunshines, a sunshine_hour", "Sunshines, a ***_hour"],
    ["sunshine", "line\\nsunshine and %3Dsunshine", "line\\n*** and %3D***"],
    ["sunshine", "\u001b[31msunshine\u001b[0m", "\u001b[31m***\u001b[0m"],
    ["größe1", "größe1 größe12 xgröße1", "*** größe12 xgröße1"],
    ["hunter2", "hunter22 hunter2", "hunter22 ***"],
    ["correct-horse", "incorrect-horse correct-horse", "incorrect-horse ***"],
    ["größen", "größen 𝒜größen größen𝒜", "*** 𝒜größen größen𝒜"],
  ])("replaces %j in %j as a whole word only", (secret, text, expected) => {
    const redactor = new Redactor();
    redactor.add(secret);
    expect(redactor.known(text)).toBe(expected);
  });

  test.each(["s3cr3t/Key+of", "=a-b-c=", "k-42-zz", "xkqzwvbn"])("replaces %s also inside a longer word", (secret) => {
    const redactor = new Redactor();
    redactor.add(secret);
    expect(redactor.known(`up__${secret}x`)).toBe("up__***x");
  });

  test("replaces a random value at any place, also inside a longer word", () => {
    const redactor = new Redactor();
    redactor.add("9f86d081884c7d659a2feaa0c55ad015");
    expect(redactor.known("key9f86d081884c7d659a2feaa0c55ad015x")).toBe("key***x");
  });
});

describe("definitions", () => {
  test("removes a source's own secrets from its definitions, and keeps secrets of other sources", () => {
    const redactor = new Redactor();
    for (const secret of ["first-key-1", "other-key-2"]) redactor.add(secret);
    redactor.give(
      new Map([
        ["first", '{"env":{"A":"first-key-1"}}'],
        ["other", '{"url":"https://x.test/?k=other-key-2"}'],
      ]),
    );
    const text = "first-key-1 other-key-2";
    expect(redactor.definition("first", text)).toBe("*** other-key-2");
    expect(redactor.definition("other", text)).toBe("first-key-1 ***");
    expect(redactor.definition("third", text)).toBe(text);
    expect(redactor.known(text)).toBe("*** ***");
    expect(redactor.definitionIn("first", { a: [text], b: { c: "x" } })).toEqual({
      a: ["*** other-key-2"],
      b: { c: "x" },
    });
  });

  test.each(["sunshine", "/srv/sunshine", "100000", "Memory"])("keeps the plain value %s", (secret) => {
    const redactor = new Redactor();
    redactor.add(secret);
    redactor.give(new Map([["weather", JSON.stringify({ token: secret })]]));
    expect(redactor.definition("weather", `Hours of ${secret}.`)).toBe(`Hours of ${secret}.`);
    expect(redactor.known(`Hours of ${secret}.`)).toBe("Hours of ***.");
  });

  test("removes the secrets that a running source has received, until the source withdraws them", () => {
    const redactor = new Redactor();
    const owner = { source: "up" };
    redactor.replace(owner, ["runtime-token-1"]);
    expect(redactor.definition("up", "runtime-token-1")).toBe("***");
    expect(redactor.definition("down", "runtime-token-1")).toBe("runtime-token-1");
    redactor.replace(owner, []);
    expect(redactor.definition("up", "runtime-token-1")).toBe("runtime-token-1");
  });
});

import { once } from "node:events";
import { createSocket } from "node:dgram";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { AuditLine } from "../../core/ports/audit.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { createAudit } from "../audit.ts";
import { Redactor } from "../redactor.ts";
import { openAuditSinks } from "./audit-sinks.ts";
import { resolveAudit, type AuditConfig } from "./options.ts";
import { rotatedFiles } from "./rotating-file.ts";
import { ChainVerifier } from "./verify-chain.ts";

const LINE: AuditLine = {
  time: "2026-01-02T03:04:05.006Z",
  call: "call-1",
  endpoint: "test",
  principal: "ann",
  method: "tools/call",
  target: "files__read",
  kind: "ok",
  durationMs: 1.5,
  argumentBytes: 2,
  resultBytes: 3,
  attempts: 1,
};

let folder: string;
let logged: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-audit-"));
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(config: AuditConfig) {
  const options = resolveAudit(config);
  const logger = {
    ...SILENT_LOGGER,
    error: (message: string, facts?: object) => void logged.push(message + JSON.stringify(facts)),
  };
  const sinks = openAuditSinks(options, { logger, environment: {} });
  const audit = createAudit(sinks, { redactor: new Redactor(), hasArguments: options.hasArguments });
  return { audit, close: async () => void (await Promise.all(sinks.map((sink) => sink.close()))) };
}

async function written(config: AuditConfig, count: number): Promise<void> {
  const { audit, close } = open(config);
  for (let index = 0; index < count; index += 1) audit.write({ ...LINE, call: `call-${index}` });
  await close();
}

const entriesOf = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("file", () => {
  test("gets one line for each call and event; arguments only if enabled, without secrets", async () => {
    const file = join(folder, "audit.jsonl");
    const { audit, close } = open({ file, arguments: true });
    audit.write(LINE, { path: "a.txt", password: "hunter-2-hunter" });
    audit.record({
      event: "sign_in",
      action: "refused",
      kind: "denied",
      details: { authorization: "Bearer abcdefghijkl" },
    });
    await close();
    expect(entriesOf(readFileSync(file, "utf8"))).toEqual([
      { event: "call", ...LINE, resultTokens: 1, arguments: { path: "a.txt", password: "***" } },
      expect.objectContaining({
        event: "sign_in",
        action: "refused",
        kind: "denied",
        details: { authorization: "***" },
      }),
    ]);
  });

  test("is renamed at its maximum size, and renamed files beyond `keep` are deleted", async () => {
    const file = join(folder, "audit.jsonl");
    for (let round = 0; round < 5; round += 1) await written({ file, max_size: 200, keep: 2 }, 2);
    expect(await rotatedFiles(file)).toHaveLength(2);
    expect(entriesOf(readFileSync(file, "utf8")).at(-1)).toMatchObject({ call: "call-1" });
  });

  test("deletes renamed files older than `retention`, and no other file", async () => {
    const file = join(folder, "audit.jsonl");
    writeFileSync(`${file}.2020-01-02T03-04-05.678Z`, "{}\n");
    writeFileSync(`${file}.backup`, "{}\n");
    writeFileSync(file, "x".repeat(300));
    await written({ file, max_size: 200, retention: "90d" }, 1);
    expect(readdirSync(folder).filter((name) => name.includes("2020"))).toEqual([]);
    expect(readdirSync(folder)).toContain("audit.jsonl.backup");
    expect(readdirSync(folder)).toHaveLength(3);
  });

  test("has one chain that continues after a rotation and a restart", async () => {
    const file = join(folder, "audit.jsonl");
    for (let round = 0; round < 3; round += 1) await written({ file, chain: true, max_size: 1000 }, 3);
    const verifier = new ChainVerifier();
    for (const one of [...(await rotatedFiles(file)), file])
      for (const [index, line] of readFileSync(one, "utf8").split("\n").entries()) verifier.add(line, one, index + 1);
    expect(verifier.report()).toMatchObject({ lines: 9, unchained: 0, findings: [] });
    expect(await rotatedFiles(file)).not.toEqual([]);
  });

  test("that cannot be written loses lines, which are counted and logged, and `write` never waits", async () => {
    const { audit, close } = open({ file: join(folder, "missing\0", "audit.jsonl"), chain: true });
    for (let index = 0; index < 10; index += 1) audit.write(LINE);
    await close();
    expect(logged[0]).toMatch(/cannot be written/);
    expect(logged.some((line) => /Audit lines are lost.*"lost":\d+/.test(line))).toBe(true);
  });
});

describe("syslog", () => {
  test("gets messages of RFC 5424 over UDP", async () => {
    const server = createSocket("udp4");
    onTestFinished(() => void server.close());
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    const message = once(server, "message");
    const { audit, close } = open({ syslog: { address: `udp://127.0.0.1:${server.address().port}`, facility: 10 } });
    audit.write(LINE);
    const [text] = (await message) as [Buffer];
    await close();
    const [, json = ""] =
      /^<85>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S+ toolyard \d+ audit - (\{.*\})$/.exec(text.toString()) ?? [];
    expect(JSON.parse(json)).toEqual({ event: "call", ...LINE, resultTokens: 1 });
  });

  test("gets lines over TCP, including those that were written while the server was down", async () => {
    const server = createNetServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((done) => server.close(done));
    const { audit, close } = open({ syslog: { address: `tcp://127.0.0.1:${port}` } });
    audit.write(LINE);
    await expect.poll(() => logged.length).toBeGreaterThan(0);
    let received = "";
    server.on("connection", (socket) => socket.on("data", (data) => (received += data.toString())));
    server.listen(port, "127.0.0.1");
    audit.write({ ...LINE, call: "call-2" });
    await expect.poll(() => received.split("\n").length, { timeout: 10_000 }).toBe(3);
    expect(received).toMatch(/^<109>1 .*call-1.*\n<109>1 .*call-2.*\n$/);
    await close();
    server.close();
  });
});

describe("webhook", () => {
  let server: Server;
  let statuses: number[];
  let bodies: string[];
  let authorization: string | undefined;
  beforeEach(async () => {
    [statuses, bodies, authorization] = [[], [], undefined];
    server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += String(part);
      authorization = request.headers.authorization;
      const status = statuses.shift() ?? 204;
      if (status < 300) bodies.push(body);
      response.writeHead(status).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => void server.close());
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit`;

  test("gets lines with its token, and again after a failure", async () => {
    statuses = [503, 429];
    const { audit, close } = open({ webhook: { url: url(), token: "token-of-the-webhook" } });
    audit.write(LINE);
    await expect.poll(() => bodies.join(""), { timeout: 10_000 }).toContain("call-1");
    await close();
    expect(authorization).toBe("Bearer token-of-the-webhook");
    expect(entriesOf(bodies.join(""))).toEqual([{ event: "call", ...LINE, resultTokens: 1 }]);
  });

  test("that refuses lines gets later lines, and the loss is logged", async () => {
    statuses = [400];
    const { audit, close } = open({ webhook: { url: url() } });
    audit.write(LINE);
    await expect.poll(() => logged.length).toBeGreaterThan(0);
    audit.write({ ...LINE, call: "call-2" });
    await close();
    expect(bodies.join("")).toContain("call-2");
    expect(logged.join("\n")).toMatch(/webhook of the audit refused lines.*"lines":1,"status":400/);
  });
});

describe("options", () => {
  test.each<[AuditConfig, RegExp]>([
    [{ file: "/a", stderr: true }, /both set/],
    [{ chain: true }, /Set `audit\.file`/],
    [{ syslog: { address: "127.0.0.1:514" } }, /audit\.syslog\.address/],
    [{ syslog: { address: "tcp://host:99999" } }, /audit\.syslog\.address/],
    [{ webhook: { url: "ftp://host/" } }, /audit\.webhook\.url/],
    [{ webhook: { url: "https://user:pass@host/" } }, /Use `audit\.webhook\.token`/],
  ])("refuse %j", (config, message) => {
    expect(() => resolveAudit(config)).toThrow(message);
  });
});

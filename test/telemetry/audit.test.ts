// The audit of a running hub: calls, sign-ins and changes of the configuration, searched and verified by the command.
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHub, type HubConfig } from "../../packages/toolyard/src/index.ts";
import { Desk } from "../cli/harness.ts";
import { ServeChild } from "../support/serve-child.ts";

const TOKENS = { ann: { token: "canary-token-of-ann" }, bob: { token: "canary-token-of-bob", deny: ["echo"] } };

async function serve(audit: HubConfig["audit"]): Promise<string> {
  const hub = await createHub({
    variables: {},
    settings: { logging: { level: "error" }, server: { port: 0, tokens: TOKENS }, ...(audit && { audit }) },
    registerTools: (own) => own.registerTool("echo", ({ text }) => text, { type: "object" }, "Echoes a text"),
  });
  onTestFinished(() => hub.close());
  return (await hub.serve()).address.url;
}

async function call(url: string, token: string): Promise<void> {
  await fetch(`${url}/jsonrpc`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "echo",
      params: { text: "canary-argument", password: "canary-password" },
    }),
  });
}

const entries = (file: string): Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a served hub", () => {
  test("records calls with decision and rule, and sign-ins once, without any credential", async () => {
    await using desk = await Desk.create();
    const file = desk.path("audit.jsonl");
    const url = await serve({ file, chain: true });
    for (const token of ["canary-token-of-ann", "canary-token-of-ann", "canary-token-of-bob", "canary-wrong-token"])
      await call(url, token);
    await expect.poll(() => entries(file).length).toBe(6);
    expect(entries(file)).toMatchObject([
      { event: "sign_in", action: "token", principal: "ann", kind: "ok" },
      { event: "call", principal: "ann", target: "echo", decision: "allowed", kind: "ok" },
      { event: "call", principal: "ann", decision: "allowed", kind: "ok" },
      { event: "sign_in", principal: "bob", kind: "ok" },
      { event: "call", principal: "bob", kind: expect.stringMatching(/denied|unknown_tool/) },
      { event: "sign_in", action: "refused", kind: "denied", details: { status: 401 } },
    ]);
    expect(readFileSync(file, "utf8")).not.toContain("canary");
    const verified = await desk.run(["audit", "verify", "--file", file]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("intact  6 lines, 1 chains") });
    const found = await desk.run([
      "audit",
      "search",
      "--file",
      file,
      "--principal",
      "ann",
      "--event",
      "call",
      "--json",
    ]);
    expect((JSON.parse(found.stdout) as { entries: unknown[] }).entries).toHaveLength(2);
    writeFileSync(file, readFileSync(file, "utf8").replace('"principal":"bob"', '"principal":"eve"'));
    const changed = await desk.run(["audit", "verify", "--file", file]);
    expect([changed.code, changed.stdout]).toEqual([1, expect.stringMatching(/broken .*audit\.jsonl:4 was changed/)]);
  });

  test("writes arguments without secrets if the configuration enables them", async () => {
    await using desk = await Desk.create();
    const file = desk.path("audit.jsonl");
    const url = await serve({ file, arguments: true });
    await call(url, "canary-token-of-ann");
    await expect.poll(() => entries(file).length).toBe(2);
    expect(entries(file)[1]).toMatchObject({ arguments: { text: "canary-argument", password: "***" } });
  });

  test("answers calls while its audit's targets are down", async () => {
    const url = await serve({ webhook: { url: "http://127.0.0.1:9/" }, syslog: { address: "tcp://127.0.0.1:9" } });
    for (let index = 0; index < 20; index += 1) await call(url, "canary-token-of-ann");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});

test("records changes of the configuration, applied and refused", async () => {
  const audit = { file: "audit.jsonl" };
  await using served = await ServeChild.start({ config: { audit } });
  const file = `${served.folder}/audit.jsonl`;
  await served.writeConfig({ audit, limits: { in_flight: 5 } });
  const all = (): string => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(all, { timeout: 10_000 }).toContain('"action":"reload"');
  expect(entries(file).at(-1)).toMatchObject({ event: "configuration", kind: "ok", details: { sections: ["limits"] } });
});

test("`audit` commands report a missing setting, file or chain, and an invalid option", async () => {
  await using desk = await Desk.create({ "toolyard.toml": "", "plain.jsonl": '{"event":"call"}\n' });
  expect(await desk.run(["audit", "verify"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/\[audit\] file/),
  });
  expect(await desk.run(["audit", "search", "--file", "nothing.jsonl"])).toMatchObject({ code: 4 });
  expect(await desk.run(["audit", "verify", "--file", "plain.jsonl"])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("no chain"),
  });
  expect(await desk.run(["audit", "search", "--file", "plain.jsonl", "--since", "soon"])).toMatchObject({ code: 2 });
});

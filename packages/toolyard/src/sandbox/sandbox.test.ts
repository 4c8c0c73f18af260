import { expect, test } from "vitest";
import type { SandboxHost, SandboxJob } from "./engine.ts";
import { resolveSandbox } from "./options.ts";
import { Sandbox } from "./sandbox.ts";

const host: SandboxHost = {
  call: async () => ({ ok: true, json: "1" }),
  search: async () => ({ ok: true, json: "[]" }),
};
const never = new AbortController().signal;

function job(language: SandboxJob["language"]): SandboxJob {
  return { language, code: "1 + 1", inputs: {}, files: [], profile: "scripting", limits: resolveSandbox().limits };
}

test("reports what to install if the configured engine is missing, and uses no other engine", async () => {
  const sandbox = new Sandbox(resolveSandbox({ engine: "deno", deno: "/no/such/deno" }));
  expect(await sandbox.run(job("javascript"), host, never)).toMatchObject({
    engine: "deno",
    end: "unavailable",
    error: { message: expect.stringContaining("Install it") as string },
  });
  await sandbox.close();
});

test("names the option for another engine if the engine does not support a language", async () => {
  const sandbox = new Sandbox(resolveSandbox({ engine: "deno" }));
  expect(await sandbox.run(job("python"), host, never)).toMatchObject({
    engine: "deno",
    end: "unavailable",
    error: { message: expect.stringContaining("`python_engine`") as string },
  });
  await sandbox.close();
});

test("runs each language in the engine that is configured for it", async () => {
  const sandbox = new Sandbox(resolveSandbox({ engine: "deno", deno: "/no/such/deno", python_engine: "embedded" }));
  expect(await sandbox.run(job("python"), host, never)).toMatchObject({
    engine: "embedded",
    end: "finished",
    resultJson: "2",
  });
  await sandbox.close();
});

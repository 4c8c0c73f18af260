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

test("an engine that is demanded and absent is refused with what to install; no other runs the code", async () => {
  const sandbox = new Sandbox(resolveSandbox({ engine: "deno", deno: "/no/such/deno" }));
  expect(await sandbox.run(job("javascript"), host, never)).toMatchObject({
    engine: "deno",
    end: "unavailable",
    error: { message: expect.stringContaining("Install it") as string },
  });
  await sandbox.close();
});

test("a language that the engine does not know is refused with the key that names another", async () => {
  const sandbox = new Sandbox(resolveSandbox({ engine: "deno" }));
  expect(await sandbox.run(job("python"), host, never)).toMatchObject({
    engine: "deno",
    end: "unavailable",
    error: { message: expect.stringContaining("`python_engine`") as string },
  });
  await sandbox.close();
});

test("each language runs in the engine that is named for it", async () => {
  const sandbox = new Sandbox(resolveSandbox({ engine: "deno", deno: "/no/such/deno", python_engine: "embedded" }));
  expect(await sandbox.run(job("python"), host, never)).toMatchObject({
    engine: "embedded",
    end: "finished",
    resultJson: "2",
  });
  await sandbox.close();
});

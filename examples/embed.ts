// A hub inside a program: list, search, call, and the form of an expected failure.
//   npm run build && node --import ./packages/toolyard/dist/runtimes/typescript/register.js examples/embed.ts
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createHub } from "toolyard";

const folder = (name: string): string => fileURLToPath(new URL(`yard/${name}`, import.meta.url));

const hub = await createHub({
  settings: {
    modules: { paths: [folder("modules")] },
    scripts: { tools_path: folder("tools") },
    logging: { level: "error" },
  },
});
try {
  const names = (await hub.list({ mode: "all" })).map((tool) => tool["name"]);
  assert.ok(names.includes("calculator") && names.includes("text.change_case"));

  const { hits } = await hub.search("send a mail");
  assert.equal(hits[0]?.name, "send_email");

  const sum = await hub.call("calculator", { operation: "add", a: 2, b: 3 });
  assert.ok(sum.ok);
  assert.deepEqual(sum.result["structuredContent"], { result: 5 });

  // Failures of callers and of tools are values; `kind` distinguishes them.
  const wrong = await hub.call("calculator", { operation: "add", a: 2 });
  assert.ok(!wrong.ok);
  assert.equal(wrong.kind, "invalid_params");
  const failed = await hub.call("calculator", { operation: "divide", a: 1, b: 0 });
  assert.ok(!failed.ok);
  assert.equal(failed.kind, "tool_error");
  assert.match(failed.message, /Cannot divide by zero/);

  console.log(
    `${names.length} tools; 2 + 3 = ${JSON.stringify(sum.result["structuredContent"])}; without b: ${wrong.message}`,
  );
} finally {
  await hub.close();
}

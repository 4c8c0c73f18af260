import { resultFromTaskOutcome, withTasks, type ConnectedMcpSessionPort } from "@modelcontextprotocol/ext-tasks/client";
import type { JsonValue } from "@modelcontextprotocol/ext-tasks/core";
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { TaskHub } from "./task-hub.ts";

const LONG = { timeout: 60_000 };
const CAPABILITIES = { elicitation: {} };

/** Sends the requests of the official client of the extension to the hub. */
function portOf(hub: TaskHub): ConnectedMcpSessionPort {
  return {
    endpointId: hub.url,
    taskCapabilities: { generation: "v2", capabilities: {} },
    invalidated: false,
    dispatch: async (request) => {
      const { method, params = {} } = request as unknown as { method: string; params?: JsonObject };
      const { result, error } = await hub.ask(method, params, { capabilities: CAPABILITIES });
      return error
        ? { kind: "error", error: error as never }
        : { kind: "result", result: result as unknown as JsonValue };
    },
    onServerRequest: () => () => {},
    onNotification: () => () => {},
    onInvalidated: () => () => {},
  };
}

test("the official client of the extension calls tools that become tasks, and tools that do not", LONG, async () => {
  await using hub = await TaskHub.start('[tasks.tools]\nwait_for_file = "always"\n');
  await using session = withTasks(portOf(hub));
  const short = await session.callTool("greet", { name: "Ada" });
  expect(short.kind).toBe("immediate");
  const long = await session.callTool("wait_for_file");
  expect(long.kind).toBe("task");
  await hub.desk.write("go", "");
  const { outcome } = await long.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: "found go" }] });
});

test("the official client answers a tool's questions, and cancels a task", LONG, async () => {
  await using hub = await TaskHub.start('[tasks]\nmode = "always"\n');
  await using session = withTasks(portOf(hub), {
    onInputRequest: async () => ({ action: "decline" }) as never,
  });
  const asking = await session.callTool("confirm");
  const { outcome } = await asking.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: "decline" }] });
  const running = await session.callTool("wait_for_file");
  await running.cancel();
  expect((await running.settle()).outcome.status).toBe("cancelled");
});

import { expect, test } from "vitest";
import { fail } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import type { ChatEvent, ChatReply } from "../../core/ports/chat.ts";
import type { TaskEnd } from "../../core/ports/tasks.ts";
import { AgentRun } from "./chat-task.ts";

const REPLY: ChatReply = { text: "Five.", stopReason: "final", steps: [], usage: {}, history: [] };

/** Observes a run. `end` resolves with its end. */
function observed(run: AgentRun): { readonly progress: string[]; readonly end: Promise<TaskEnd> } {
  const progress: string[] = [];
  const end = new Promise<TaskEnd>((resolve) => {
    run.observe({
      progressed: (message) => void progress.push(message),
      inputChanged: () => {},
      delegated: () => {},
      settled: resolve,
    });
  });
  return { progress, end };
}

function until(signal: AbortSignal): Promise<ChatReply> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ ...REPLY, stopReason: "cancelled" }));
  });
}

test.each([
  ["final", { type: "result", result: { content: [{ text: "Five." }], structuredContent: { stopReason: "final" } } }],
  ["max_iterations", { type: "result", result: { structuredContent: { stopReason: "max_iterations" } } }],
  ["timeout", { type: "result", result: { structuredContent: { stopReason: "timeout" } } }],
  ["error", { type: "result", result: { isError: true, structuredContent: { stopReason: "error" } } }],
  ["cancelled", { type: "cancelled" }],
])("an answer that stops with %s ends its task", async (stopReason, end) => {
  const run = new AgentRun(async () => ({ ...REPLY, stopReason }));
  expect(await observed(run).end).toMatchObject(end);
});

test("an answer that cannot start fails its task with the reason and its kind", async () => {
  const run = new AgentRun(() => Promise.reject(new FailError(fail("unavailable", "No key."))));
  expect(await observed(run).end).toMatchObject({ type: "error", error: { message: "No key." } });
  const faulty = new AgentRun(() => Promise.reject(new TypeError("broken")));
  expect(await observed(faulty).end).toMatchObject({ type: "error", error: { message: "broken" } });
});

test("steps and calls are progress, also those before the task is observed; other events are not", async () => {
  let emit = (_event: ChatEvent): void => {};
  const run = new AgentRun((signal, onEvent) => {
    emit = onEvent;
    return until(signal);
  });
  emit({ type: "step", step: 1 });
  const { progress, end } = observed(run);
  emit({ type: "text", text: "Fi" });
  emit({ type: "call", tool: "add" });
  expect(progress).toEqual(["Step 1", "Calling add"]);
  run.cancel(new Error("enough"));
  expect(await end).toEqual({ type: "cancelled" });
  emit({ type: "call", tool: "late" });
  expect(progress).toHaveLength(2);
});

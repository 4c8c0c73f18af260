import { expect, test } from "vitest";
import { entryText } from "./audit-text.ts";

const ENTRY = {
  event: "call",
  time: "2026-01-02T11:00:00.000Z",
  principal: "ann",
  client: "claude",
  target: "files__read",
  source: "files",
  kind: "timeout",
  durationMs: 1500,
};

test("an entry is one line, and its texts cannot control the terminal", () => {
  const entry = { ...ENTRY, target: "x\u001b[2J\nforged  ok", rule: "rights" };
  const text = entryText(entry, { color: false });
  expect(text).toContain("ann/claude");
  expect(text).toContain("timeout (rights)  1.5 s");
  expect(text.includes("\u001b") || text.includes("\n")).toBe(false);
});

test("an approval shows its action, decision and tool", () => {
  const entry = { ...ENTRY, event: "approval", action: "answer", decision: "refused", kind: "denied" };
  expect(entryText(entry, { color: false })).toContain(
    "ann/claude  approval  answer  refused  files__read  (files)  denied",
  );
});

/* oxlint-disable no-control-regex -- What a terminal obeys is what is looked for. */
import { expect, test } from "vitest";
import { displayWidth } from "../output/table-width.ts";
import { paintLine, plainText } from "./line-text.ts";

const canvas = { columns: 79, color: false, frame: 0 };

test("shows name, state, time and reason for waiting, with a bar if the total is known", () => {
  const memory = { name: "memory", state: "installing", note: "Downloading 4.5 MB" };
  expect(paintLine(memory, 14_300, canvas)).toBe("⠋ memory: installing, 14 s  Downloading 4.5 MB");
  expect(paintLine({ name: "work", state: "running", done: 1, total: 4 }, 0, canvas)).toBe(
    "⠋ work: running █████░░░░░░░░░░░░░░░ 25 %",
  );
  expect(paintLine({ name: "work", state: "running", done: 7 }, 61_000, canvas)).toBe("⠋ work: running 7, 1 min 1 s");
  expect(plainText({ ...memory, done: 1, total: 2 }, 0)).toBe("memory: installing 1 of 2: Downloading 4.5 MB");
});

test("never exceeds the columns of the terminal, in any script", () => {
  const wide = {
    name: "天気予報サーバー🚀🚀🚀🚀🚀🚀",
    state: "starting",
    note: "処理中です、少々お待ちください ".repeat(9),
  };
  for (let columns = 20; columns <= 140; columns += 1) {
    const painted = paintLine({ ...wide, done: 3, total: 9 }, 5000, { ...canvas, columns });
    expect(displayWidth(painted)).toBeLessThanOrEqual(columns);
  }
});

test("removes control sequences from untrusted texts", () => {
  const line = { name: "a\u001b[2J", state: "down\u0007", note: "no\u001b]0;owned\u0007\r\n\u202eback" };
  expect(paintLine(line, 0, canvas)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/u);
  expect(paintLine(line, 0, { ...canvas, color: true })).toContain("\u001b[36m");
});

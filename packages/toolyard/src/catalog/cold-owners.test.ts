import { expect, test } from "vitest";
import { DEFAULT_NAMING } from "../core/names/names.ts";
import { Spellings } from "../core/names/spelling.ts";
import { mightUse } from "./cold-owners.ts";

const source = { id: "payroll", kind: "stdio", namespace: "payroll", order: 0 } as const;
const names = { separator: "__", spellings: new Spellings([source], { naming: DEFAULT_NAMING }) };
const asked = (text: string, allow: readonly string[]) => ({
  text,
  isUri: false,
  view: { mode: "normal" as const, principal: { id: "p", rights: { allow } } },
});

test("mentions a source if the caller's narrowed rights permit the name at that source", () => {
  expect(mightUse(asked("payroll__pay", ["payroll__*"]), source, names)).toBe(true);
  expect(mightUse(asked("pay", ["payroll__*"]), source, names)).toBe(true);
});

test("does not mention a source if the caller's rights permit the name only at other sources", () => {
  expect(mightUse(asked("searchx", ["search*"]), source, names)).toBe(false);
  expect(mightUse(asked("payroll__pay", ["search*"]), source, names)).toBe(false);
});

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

test("a caller with narrowed rights might use what they allow under the name that this source would give it", () => {
  expect(mightUse(asked("payroll__pay", ["payroll__*"]), source, names)).toBe(true);
  expect(mightUse(asked("pay", ["payroll__*"]), source, names)).toBe(true);
});

test("it is not told of a source whose tools it may not use, though it may use that very name elsewhere", () => {
  expect(mightUse(asked("searchx", ["search*"]), source, names)).toBe(false);
  expect(mightUse(asked("payroll__pay", ["search*"]), source, names)).toBe(false);
});

import { expect, test } from "vitest";
import { withoutFence } from "./code-fence.ts";

test.each([
  ["```python\nprint(1)\n```", "print(1)"],
  ["\n```\nlet a = 1;\na\n```\n", "let a = 1;\na"],
  ["```js\n```", ""],
])("removes the fence around a whole program: %j", (given, code) => {
  expect(withoutFence(given)).toBe(code);
});

test.each([
  "print(1)",
  "x = `a`",
  'text = """\n```\nfence\n```\n"""',
  "```python\na\n```\nwords\n```python\nb\n```",
  "```python print(1)```",
])("does not change %j", (code) => {
  expect(withoutFence(code)).toBe(code);
});

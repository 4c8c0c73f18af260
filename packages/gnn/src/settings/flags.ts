import type { Value } from "../language/model.ts";

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  false: false,
  no: false,
  off: false,
};

/** Returns the truth value of `True`, `no`, `1` and similar values; undefined for any other value. */
export function flagOf(value: Value): boolean | undefined {
  if (value.kind === "number") return value.value === 1 ? true : value.value === 0 ? false : undefined;
  if (value.kind !== "word" && value.kind !== "string") return undefined;
  const word = value.text.toLowerCase();
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

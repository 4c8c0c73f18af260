// Every mutation of one member of a JSON value: absent, null, empty, of a wrong type.
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";

/** Represents an absent member. */
const ABSENT = Symbol("absent");

/** Values that replace a member. */
const REPLACEMENTS: readonly unknown[] = [
  ABSENT,
  null,
  [],
  {},
  "",
  "x",
  0,
  -1.5,
  true,
  false,
  [null],
  [[]],
  { a: null },
];

export interface Mutation<T> {
  /** Member and new value, such as `annotations.title = null`. */
  readonly title: string;
  readonly value: T;
}

/** Replaces each member at each depth by each different replacement, one at a time. */
export function mutationsOf<T extends object>(value: T): readonly Mutation<T>[] {
  return placesOf(value).flatMap((path) =>
    REPLACEMENTS.flatMap((replacement) => {
      if (JSON.stringify(at(value, path)) === JSON.stringify(replacement)) return [];
      const shown = replacement === ABSENT ? "absent" : JSON.stringify(replacement);
      return [{ title: `${path.join(".")} = ${shown}`, value: replaced(value, path, replacement) as T }];
    }),
  );
}

/**
 * Returns a third of the mutations: each member absent, `null`, and two further values, which differ between members.
 */
export function fewMutationsOf<T extends object>(value: T): readonly Mutation<T>[] {
  const all = mutationsOf(value);
  return all.filter(({ title }, at) => / = (absent|null)$/.test(title) || at % 6 === 0);
}

type Step = string | number;

function placesOf(value: unknown, above: readonly Step[] = []): (readonly Step[])[] {
  if (typeof value !== "object" || value === null) return [];
  const steps: Step[] = Array.isArray(value) ? Array.from(value.keys()) : Object.keys(value);
  return steps.flatMap((step) => {
    const path = [...above, step];
    return [path, ...placesOf((value as JsonObject)[step], path)];
  });
}

function at(value: unknown, path: readonly Step[]): unknown {
  return path.reduce((inner, step) => (inner as JsonObject)[step], value);
}

function replaced(value: unknown, [step, ...rest]: readonly Step[], replacement: unknown): unknown {
  if (step === undefined) return replacement;
  const inner = replaced((value as JsonObject)[step], rest, replacement);
  if (Array.isArray(value))
    return inner === ABSENT ? value.toSpliced(Number(step), 1) : value.with(Number(step), inner);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, name === step ? inner : member] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== ABSENT));
}

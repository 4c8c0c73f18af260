import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** Keys from the root; entries of lists by index. */
export type TreePath = readonly string[];

/** Returns whether a path is `outer` or below it. */
export function isWithin(path: TreePath, outer: TreePath): boolean {
  return path.length >= outer.length && outer.every((step, index) => path[index] === step);
}

/** Returns the value at a path, or `undefined`. */
export function valueAt(tree: unknown, path: TreePath): unknown {
  let value = tree;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly unknown[])[Number(step)];
    else value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Returns a copy of a tree with `value` at `path`; missing tables are created. */
export function withPath(tree: JsonObject, [step = "", ...rest]: TreePath, value: unknown): JsonObject {
  return { ...tree, [step]: changed(tree[step], rest, value) };
}

function changed(inner: unknown, rest: TreePath, value: unknown): unknown {
  const [next, ...further] = rest;
  if (next === undefined) return value;
  if (!Array.isArray(inner)) {
    // A number as next step means that a new list with its first entry is created.
    if (inner === undefined && /^\d+$/.test(next)) return [changed(undefined, further, value)];
    return withPath(isJsonObject(inner) ? inner : {}, rest, value);
  }
  const list: unknown[] = [...(inner as unknown[])];
  list[Number(next)] = changed(list[Number(next)], further, value);
  return list;
}

/** Returns a copy of a tree without the value at `path`. */
export function withoutPath(tree: JsonObject, path: TreePath): JsonObject {
  return without(tree, path) as JsonObject;
}

function without(value: unknown, [step = "", ...rest]: TreePath): unknown {
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((_, index) => String(index) !== step);
    return value.map((entry: unknown, index) => (String(index) === step ? without(entry, rest) : entry));
  }
  if (!isJsonObject(value)) return value;
  const { [step]: inner, ...others } = value;
  if (rest.length === 0 || inner === undefined) return others;
  return { ...value, [step]: without(inner, rest) };
}

import { ConfigError } from "../../core/errors.ts";
import { exactCanonicalJson } from "../../core/json/digest.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { TomlDocument } from "./toml-document.ts";
import { valueAt, type TreePath } from "./tree-path.ts";

/**
 * Changes the value at a path to `value` with the fewest changes of the text, so that comments and layout of everything
 * that is equal stay. `undefined` removes the value. Rejects with a `ConfigError` if the text has a form that cannot be
 * edited.
 */
export async function applyValue(document: TomlDocument, path: TreePath, value: unknown): Promise<TomlDocument> {
  const before = valueAt(document.tree, path);
  if (isEqual(before, value)) return document;
  if (value === undefined) return removeValue(document, path);
  if (before === undefined) return addValue(document, path, value);
  if (isJsonObject(before) && isJsonObject(value)) return applyTable(document, path, value);
  if (Array.isArray(before) && Array.isArray(value)) return applyList(document, path, value);
  return document.set(path.slice(0, -1), path.at(-1)!, value);
}

async function applyTable(document: TomlDocument, path: TreePath, value: JsonObject): Promise<TomlDocument> {
  const before = valueAt(document.tree, path) as JsonObject;
  let current = document;
  for (const key of new Set([...Object.keys(before), ...Object.keys(value)]))
    current = await applyValue(current, [...path, key], value[key]);
  return current;
}

async function applyList(document: TomlDocument, path: TreePath, value: readonly unknown[]): Promise<TomlDocument> {
  const before = valueAt(document.tree, path) as readonly unknown[];
  const start = commonStart(before, value);
  const end = commonStart(before.slice(start).toReversed(), value.slice(start).toReversed());
  const [removed, added] = [before.length - start - end, value.slice(start, value.length - end)];
  let current = document;
  if (removed === added.length) {
    for (const [at, entry] of added.entries())
      current = await applyValue(current, [...path, String(start + at)], entry);
    return current;
  }
  if (added.length === 0) {
    for (let at = start + removed - 1; at >= start; at -= 1) current = await current.remove([...path, String(at)]);
    return current;
  }
  if (removed === 0 && start === before.length) return append(document, path, added);
  return document.set(path.slice(0, -1), path.at(-1)!, value);
}

/**
 * Compares the JSON texts: a parsed table has no prototype, so other comparisons would find it different from a plain
 * object.
 */
function isEqual(one: unknown, other: unknown): boolean {
  return one === other || exactCanonicalJson(one) === exactCanonicalJson(other);
}

function commonStart(one: readonly unknown[], other: readonly unknown[]): number {
  const at = one.findIndex((value, index) => index >= other.length || !isEqual(value, other[index]));
  return at === -1 ? one.length : at;
}

async function append(document: TomlDocument, path: TreePath, entries: readonly unknown[]): Promise<TomlDocument> {
  let current = document;
  for (const entry of entries) {
    const asValue = (): Promise<TomlDocument> => current.addValue(path, entry);
    current = isJsonObject(entry)
      ? await firstOf([() => current.addAll([{ path, table: entry, isEntry: true }]), asValue])
      : await asValue();
  }
  return current;
}

async function removeValue(document: TomlDocument, path: TreePath): Promise<TomlDocument> {
  const [table, key] = [path.slice(0, -1), path.at(-1)!];
  return (await document.unset(table, key)) ?? document.remove(path);
}

/** Adds a value that the text does not have: as a key of its table, or as a table of its own. */
function addValue(document: TomlDocument, path: TreePath, value: unknown): Promise<TomlDocument> {
  const [table, key] = [path.slice(0, -1), path.at(-1)!];
  const asKey = (): Promise<TomlDocument> => document.set(table, key, value);
  if (isListOfTables(value)) return firstOf([() => append(document, path, value), asKey]);
  if (!isJsonObject(value)) return firstOf([asKey, () => document.addAll([{ path: table, table: { [key]: value } }])]);
  const asTable = (): Promise<TomlDocument> => document.addAll([{ path, table: value }]);
  const isSmall = path.length > 2 && !Object.values(value).some(isJsonObject);
  return firstOf(isSmall ? [asKey, asTable] : [asTable, asKey]);
}

function isListOfTables(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isJsonObject);
}

/** Returns the result of the first edit that is possible. Rejects with the error of the last one. */
async function firstOf(edits: readonly (() => Promise<TomlDocument>)[]): Promise<TomlDocument> {
  const [edit, ...others] = edits;
  try {
    return await edit!();
  } catch (error) {
    if (others.length === 0 || !(error instanceof ConfigError)) throw error;
    return firstOf(others);
  }
}

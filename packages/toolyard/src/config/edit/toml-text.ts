import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { TreePath } from "./tree-path.ts";

/** Returns a key in TOML syntax: `mcp.stdio_servers."a b"`. */
export function keyText(path: TreePath): string {
  return path.map((step) => (/^[\w-]+$/.test(step) ? step : JSON.stringify(step))).join(".");
}

/** Returns a value in TOML syntax on one line. */
export function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${keyText([key])} = ${valueText(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** Returns the key-value pairs of a table, one per line. */
export function tableText(table: JsonObject): string {
  return Object.entries(table)
    .map(([key, value]) => `${keyText([key])} = ${valueText(value)}\n`)
    .join("");
}

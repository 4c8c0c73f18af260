import { stringifyExact } from "../core/json/exact-json.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { PreparedRecord } from "./source-part.ts";

/**
 * Caches the last row that was created from each prepared row, so that a change in another source does not serialise it
 * again.
 */
const made = new WeakMap<object, PreparedRecord<unknown>>();

/** Returns the row with another name, URI or template. */
export function renamedRow<P extends PreparedRecord<unknown>>(row: P, key: string, member: string): P {
  return row.key === key
    ? row
    : (changedRow<PreparedRecord<unknown>>(row, key, () => ({ entry: { ...row.entry, [member]: key } })) as P);
}

/**
 * Returns the row under another key, with the members that `change` returns. These must depend only on the row and
 * `key`, because the result is cached.
 */
export function changedRow<P extends PreparedRecord<unknown>>(row: P, key: string, change: () => RowChange<P>): P {
  const last = made.get(row);
  // The cached row was created from this row, so it has the same type.
  if (last?.key === key) return last as P;
  const parts = change();
  const changed = { ...row, ...parts, key, json: stringifyExact(parts.entry) };
  made.set(row, changed);
  return changed;
}

type RowChange<P> = Partial<P> & { readonly entry: JsonObject };

import { stringifyExact } from "../core/json/exact-json.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { PreparedRecord } from "./source-part.ts";

/** The last row made from each prepared one: another source's change must not serialise this one's rows anew. */
const made = new WeakMap<object, PreparedRecord<unknown>>();

/** The same row under another name, URI or template. */
export function renamedRow<P extends PreparedRecord<unknown>>(row: P, key: string, member: string): P {
  return row.key === key
    ? row
    : (changedRow<PreparedRecord<unknown>>(row, key, () => ({ entry: { ...row.entry, [member]: key } })) as P);
}

/** The same row with another entry and what goes with it, which depend on nothing but the row and `key`. */
export function changedRow<P extends PreparedRecord<unknown>>(row: P, key: string, change: () => RowChange<P>): P {
  const last = made.get(row);
  // What was made from a row has that row's type.
  if (last?.key === key) return last as P;
  const parts = change();
  const changed = { ...row, ...parts, key, json: stringifyExact(parts.entry) };
  made.set(row, changed);
  return changed;
}

type RowChange<P> = Partial<P> & { readonly entry: JsonObject };

import type { Source } from "../core/sources/records.ts";
import { compareText } from "./precedence.ts";

interface Placeable {
  /** Rendered name, URI or URI template. */
  readonly key: string;
  readonly record: { readonly source: Source };
}

/**
 * Rows in the order in which lists show them. Everything is sorted by what it is shown under, except that what a source
 * of `inOwnOrder` offers stands together, in the order of that source, where the first of it by name would stand.
 * `rows` come with those of each source in its own order; keys are unique.
 */
export function inListOrder<R extends Placeable>(rows: readonly R[], inOwnOrder: ReadonlySet<string>): readonly R[] {
  if (inOwnOrder.size === 0) return rows.toSorted((a, b) => compareText(a.key, b.key));
  const firsts = new Map<string, string>();
  for (const { key, record } of rows) {
    const first = firsts.get(record.source.id);
    if (inOwnOrder.has(record.source.id) && (first === undefined || compareText(key, first) < 0))
      firsts.set(record.source.id, key);
  }
  const placeOf = ({ key, record }: R): string => firsts.get(record.source.id) ?? key;
  // Sorting is stable, so those of one place stay as they came.
  return rows.toSorted((a, b) => compareText(placeOf(a), placeOf(b)));
}

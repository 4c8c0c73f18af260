import type { Source } from "../core/sources/records.ts";
import { compareText } from "./precedence.ts";

interface Placeable {
  /** Rendered name, URI or URI template. */
  readonly key: string;
  readonly record: { readonly source: Source };
}

/**
 * Returns rows in list order. They are sorted by key, except that the rows of a source in `inOwnOrder` stay together in
 * that source's order, at the place of its first key. In `rows`, the rows of each source must be in its own order, and
 * keys must be unique.
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
  // The sort is stable, so rows with equal places keep their order.
  return rows.toSorted((a, b) => compareText(placeOf(a), placeOf(b)));
}

import type { ComponentChildren } from "preact";
import { t, type TextKey } from "../i18n/texts.ts";
import { useBounded } from "./bounded.tsx";

export interface TableProps {
  /** Name of the region, which scrolls on narrow screens. */
  readonly title: string;
  readonly heads: readonly TextKey[];
  /** Rows. */
  readonly children: ComponentChildren;
}

export function Table({ title, heads, children }: TableProps) {
  const { shown, more } = useBounded(children);
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {t(head)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{shown}</tbody>
      </table>
      {more}
    </div>
  );
}

/** Shows a table with a heading. `emptyText` is shown instead of a table without rows. */
export function TableSection({ emptyText, ...table }: TableProps & { readonly emptyText?: string | undefined }) {
  return (
    <section>
      <h2>{table.title}</h2>
      {emptyText === undefined ? <Table {...table} /> : <p class="dim">{emptyText}</p>}
    </section>
  );
}

import type { View } from "../core/hub-port.ts";
import { NameBook } from "../core/name-book.ts";
import type { Named, Surface } from "../core/names.ts";
import type { CallTarget } from "../core/provider.ts";
import type { Problem, Source } from "../core/records.ts";
import { ambiguous, denied, unknown, type Lookup } from "./lookup.ts";
import { compareText } from "./precedence.ts";
import { permissionOf } from "./rights.ts";
import { renamedRow } from "./renamed-row.ts";
import type { Prepared } from "./source-part.ts";

type NamedRecord = Named & { readonly source: Source };

/** What tools and prompts share: rows sorted by rendered name, and the way from any spelling of a name to its row. */
export class NamedTable<R extends NamedRecord, P extends Prepared<R>> {
  /** Sorted by rendered name. */
  readonly rows: readonly P[];
  readonly problems: readonly Problem[];
  readonly #what: string;
  readonly #book: NameBook<R>;
  readonly #byRecord: ReadonlyMap<R, P>;

  /** `items` come in order of precedence; `what` is the noun for messages. */
  constructor(what: string, items: readonly P[], separator: string) {
    this.#what = what;
    this.#book = new NameBook(
      items.map((item) => item.record),
      { separator },
    );
    const rows = items.map((item) => renamedRow(item, this.#book.nameOf(item.record), "name"));
    this.#byRecord = new Map(rows.map((row) => [row.record, row]));
    this.rows = rows.toSorted((a, b) => compareText(a.key, b.key));
    this.problems = items.flatMap((item, at) => (rows[at]!.key === item.key ? [] : [this.#shadowProblem(item, rows[at]!.key)]));
  }

  nameOf(record: R, surface: Surface): string | undefined {
    return this.#byRecord.has(record) ? this.#book.nameOf(record, surface) : undefined;
  }

  /** Rows that a spelling may mean, whoever asks. */
  candidates(name: string): readonly P[] {
    return this.#book.candidates(name).map((record) => this.#byRecord.get(record)!);
  }

  resolve<T extends CallTarget>(name: string, view: View, permits: (row: P) => boolean, target: (record: R) => T): Lookup<T> {
    const candidates = this.candidates(name);
    const [row, ...others] = candidates.filter(permits);
    if (row && others.length === 0) return { found: true, source: row.record.source, name: row.key, target: target(row.record) };
    if (row) return ambiguous(this.#what, name, [row, ...others].map((one) => one.key));
    if (candidates.length > 0) return denied(this.#what, name);
    const isLimited = permissionOf(view.principal.rights).key !== "";
    return unknown(this.#what, name, (isLimited ? this.rows.filter(permits) : this.rows).map((one) => one.key));
  }

  #shadowProblem(item: P, name: string): Problem {
    const owner = this.#book.shadowerOf(item.record);
    const whose = owner ? `source \`${owner.source.id}\` has that name` : "that name is taken";
    return { source: item.record.source.id, subject: item.key, message: `\`${item.key}\` is offered as \`${name}\`, since ${whose}.` };
  }
}

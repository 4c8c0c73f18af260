import type { View } from "../core/ports/hub-port.ts";
import { NameBook, type NamePolicy } from "../core/names/name-book.ts";
import type { McpNaming, NameParts, Surface } from "../core/names/names.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { Problem, Source } from "../core/sources/records.ts";
import { ambiguous, denied, unknown, type Lookup } from "./lookup.ts";
import { inListOrder } from "./list-order.ts";
import { compareText } from "./precedence.ts";
import type { Permission } from "../core/ports/permission.ts";
import { permissionOf } from "../core/ports/rights.ts";
import type { NameClaims } from "./name-claims.ts";
import { changedRow } from "./renamed-row.ts";
import type { PreparedNamed } from "./source-part.ts";

type NamedRecord = NameParts & { readonly source: Source };

export interface TableOptions<R> {
  readonly naming: McpNaming;
  /** Ids of the sources whose own order the lists keep. */
  readonly inOwnOrder: ReadonlySet<string>;
  readonly claims: NameClaims;
  /** Absent: each record may have every name. */
  readonly policy: NamePolicy<{ readonly record: R }> | undefined;
}

/**
 * Base class of the tables of tools and of prompts: rows sorted by rendered name, and the lookup from a spelling to its
 * row.
 */
export class NamedTable<R extends NamedRecord, P extends PreparedNamed<R>> {
  /** Rows sorted by rendered name. */
  readonly rows: readonly P[];
  /** Rows in list order. */
  readonly listed: readonly P[];
  readonly problems: readonly Problem[];
  readonly #what: string;
  readonly #separator: string;
  readonly #claims: NameClaims;
  readonly #book: NameBook<P>;
  #byRecord: ReadonlyMap<R, P> | undefined;

  /** `items` are in order of precedence, and those of one source in its own order. `what` is the noun for messages. */
  constructor(what: string, items: readonly P[], { naming, inOwnOrder, claims, policy }: TableOptions<R>) {
    this.#what = what;
    this.#separator = naming.separator;
    this.#claims = claims;
    this.#book = new NameBook(items, {
      naming,
      namedOf: (item) => item.record,
      mcpNameOf: (item) => item.key,
      ...(policy && { policy }),
    });
    const { renamed } = this.#book;
    const rows = renamed.size === 0 ? items : items.map((item) => this.#rowOf(item));
    this.rows = rows.toSorted((a, b) => compareText(a.key, b.key));
    this.listed = inOwnOrder.size === 0 ? this.rows : inListOrder(rows, inOwnOrder);
    this.problems = Array.from(renamed, ([item, name]) => this.#shadowProblem(item, name));
  }

  nameOf(record: R, surface: Surface): string | undefined {
    this.#byRecord ??= new Map(this.#book.records.map((item) => [item.record, item]));
    const item = this.#byRecord.get(record);
    return item && this.#book.nameOf(item, surface);
  }

  /** Returns the rows that a spelling may mean, for any caller. */
  candidates(name: string): readonly P[] {
    return this.#book.candidates(name).map((item) => this.#rowOf(item));
  }

  /** Prepares in steps the tables that `candidates` needs. */
  steps(): Generator<void, void> {
    return this.#book.steps();
  }

  #rowOf(item: P): P {
    const name = this.#book.renamed.get(item);
    return name === undefined ? item : (changedRow<PreparedNamed<R>>(item, name, () => renaming(item, name)) as P);
  }

  resolve<T extends CallTarget>(name: string, view: View, target: (record: R) => T): Lookup<T> {
    const permission = permissionOf(view.principal.rights);
    const [row, ...others] = this.permitted(this.candidates(name), permission);
    if (row && others.length === 0) {
      const { key, record } = row;
      const subject = permission.isNarrowed ? this.#claims.subjectOf(row) : row.subject;
      return { found: true, source: record.source, name: key, subject, target: target(record) };
    }
    if (row)
      return ambiguous(
        this.#what,
        name,
        [row, ...others].map((one) => one.key),
      );
    const names = this.permitted(this.rows, permission).map((one) => one.key);
    const missing = permission.mayBeKnown(name, this.#separator) ? unknown : denied;
    return missing(this.#what, name, names);
  }

  /** Returns the rows that the permission permits. */
  permitted(rows: readonly P[], permission: Permission): readonly P[] {
    return permission.isNarrowed ? rows.filter((row) => this.permits(row, permission)) : rows;
  }

  permits(row: P, permission: Permission): boolean {
    return !permission.isNarrowed || permission.permits(this.#claims.subjectOf(row));
  }

  #shadowProblem(item: P, name: string): Problem {
    return {
      source: item.record.source.id,
      subject: item.key,
      message: `\`${item.key}\` is offered as \`${name}\`, since ${this.#whyRenamed(item)}.`,
      renamed: true,
    };
  }

  #whyRenamed(item: P): string {
    const reason = this.#book.renameReason(item);
    switch (reason.type) {
      case "shadowed":
        return `source \`${reason.owner.record.source.id}\` has that name`;
      case "belongs": {
        const owners = [...reason.owners].map((id) => `\`${id}\``).join(", ");
        return `names of this form belong to the source ${owners}`;
      }
      case "reserved":
        return "that name is reserved";
    }
  }
}

/**
 * Returns the members of a row that depend on its new name. If the new name begins with the source's id, which was
 * added because of a conflict, this prefix is added to `prefixes`.
 */
function renaming({ entry, subject, record }: PreparedNamed<NamedRecord>, name: string) {
  const start = name.slice(0, record.source.id.length + subject.separator.length);
  const isOwn = start.endsWith(subject.separator);
  return {
    entry: { ...entry, name },
    subject: { ...subject, name, prefixes: isOwn ? [...subject.prefixes, start] : subject.prefixes },
  };
}

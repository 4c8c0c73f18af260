import type { NamedSubject } from "../core/ports/permission.ts";
import type { PreparedNamed, SourcePart } from "./source-part.ts";

type ClaimRow = Pick<PreparedNamed<{ readonly source: { readonly id: string } }>, "record" | "subject">;

/**
 * Prefixes of each source's names: its namespace, or those of its modules. Rights use them to detect a tool name that
 * starts with the prefix of another source.
 */
export class NameClaims {
  /** For each source id: the prefixes of other sources with which names of this source may start. */
  readonly #foreign = new Map<string, readonly string[]>();

  constructor(parts: readonly SourcePart[], separator: string) {
    const claims = parts.flatMap((part) => claimsOf(part, separator).map((start) => ({ start, id: part.source.id })));
    for (const { source } of parts) {
      const own = source.namespace === "" ? "" : `${source.namespace}${separator}`;
      const foreign = claims.filter(({ start, id }) => id !== source.id && start !== own && start.startsWith(own));
      if (foreign.length > 0) this.#foreign.set(source.id, Array.from(new Set(foreign.map(({ start }) => start))));
    }
  }

  /**
   * Returns the subject of a row with which rights are compared. `looksLike` contains the prefixes of other sources
   * with which the name starts.
   */
  subjectOf({ record, subject }: ClaimRow): NamedSubject {
    const foreign = this.#foreign.get(record.source.id);
    if (!foreign) return subject;
    const looksLike = foreign.filter((start) => subject.name.startsWith(start) || subject.ownName.startsWith(start));
    return looksLike.length === 0 ? subject : { ...subject, looksLike };
  }
}

function claimsOf({ source, tools }: SourcePart, separator: string): readonly string[] {
  const starts = new Set<string>();
  if (source.namespace !== "") starts.add(`${source.namespace}${separator}`);
  for (const { key, record } of tools) if (record.qualified) starts.add(key.slice(0, key.indexOf(".") + 1));
  starts.delete("");
  return Array.from(starts);
}

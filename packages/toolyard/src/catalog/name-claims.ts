import type { NamedSubject } from "../core/ports/rights.ts";
import type { PreparedNamed, SourcePart } from "./source-part.ts";

type ClaimRow = Pick<PreparedNamed<{ readonly source: { readonly id: string } }>, "record" | "subject">;

const NO_CLAIMS: readonly string[] = [];

/**
 * What the names of each source begin with: its namespace, or those of its modules. A source that names a tool so that
 * it begins like another source's is told apart where rights are read.
 */
export class NameClaims {
  /** By source id: what names of other sources begin with, as far as one of this source may begin so, too. */
  readonly #foreign = new Map<string, readonly string[]>();

  constructor(parts: readonly SourcePart[], separator: string) {
    const claims = parts.flatMap((part) => claimsOf(part, separator).map((start) => ({ start, id: part.source.id })));
    for (const { source } of parts) {
      const own = source.namespace === "" ? "" : `${source.namespace}${separator}`;
      const foreign = claims.filter(({ start, id }) => id !== source.id && start !== own && start.startsWith(own));
      if (foreign.length > 0) this.#foreign.set(source.id, Array.from(new Set(foreign.map(({ start }) => start))));
    }
  }

  /** What rights are held against for a row. */
  subjectOf({ record, subject }: ClaimRow): NamedSubject {
    const foreign = this.#foreign.get(record.source.id) ?? NO_CLAIMS;
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

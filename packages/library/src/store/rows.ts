import type { Candidate } from "../search/bm25.ts";
import type { DocumentFields, PassageFields, StoredDocument, StoredPassage } from "./store.ts";

/** Row of a table. The tables have the same columns in every SQL store. */
export type PassageRow = Readonly<Record<string, unknown>>;

export function documentOf(row: PassageRow): StoredDocument {
  return {
    ...(JSON.parse(String(row["fields"])) as DocumentFields),
    chunks: Number(row["chunks"]),
    summaries: Number(row["summaries"]),
    created: String(row["created"]),
    updated: String(row["updated"]),
  };
}

export function passageOf(row: PassageRow): StoredPassage {
  return { id: Number(row["id"]), sourceId: String(row["source_id"]), ...shared(row) };
}

/** Returns the fields that rank a passage, without its text. */
export function candidateOf(row: PassageRow): Candidate {
  return {
    id: Number(row["id"]),
    sourceId: String(row["source_id"]),
    ordinal: Number(row["ordinal"]),
    terms: String(row["terms"]),
    length: Number(row["length"]),
  };
}

/** Returns the fields of a passage with its terms and vector, for another store. */
export function passageFieldsOf(
  row: PassageRow,
  vectorOf: (row: PassageRow) => Float32Array | undefined,
): PassageFields {
  const vector = vectorOf(row);
  return { ...shared(row), terms: String(row["terms"]), length: Number(row["length"]), ...(vector && { vector }) };
}

function shared(row: PassageRow) {
  const [first, last] = [row["page_from"], row["page_to"]];
  return {
    ordinal: Number(row["ordinal"]),
    level: Number(row["level"]),
    section: JSON.parse(String(row["section"])) as string[],
    from: Number(row["char_from"]),
    to: Number(row["char_to"]),
    ...(first !== null && first !== undefined && { pages: [Number(first), Number(last)] as const }),
    text: String(row["text"]),
    concepts: JSON.parse(String(row["concepts"])) as string[],
  };
}

import { SECTION_SEPARATOR, type DeleteResult, type PassageFields, type PassageKind } from "../store.ts";
import type { PostgresSession } from "./postgres-driver.ts";
import { storableJson } from "./postgres-values.ts";
import { writeVector } from "../vectors/vectors.ts";

/** Maximum number of passages in one statement. Larger statements are not faster. */
const BATCH = 250;

const COLUMNS = `ordinal integer, level integer, section text, section_path text, char_from integer, char_to integer,
  page_from integer, page_to integer, text text, terms text, length integer, concepts text, vector text`;
const NAMES = COLUMNS.split(",")
  .map((column) => column.trim().split(" ")[0])
  .filter((name) => name !== "vector")
  .join(", ");

export async function insertPassages(
  { query }: PostgresSession,
  { table, documentId }: { readonly table: string; readonly documentId: number },
  passages: readonly PassageFields[],
): Promise<void> {
  for (let at = 0; at < passages.length; at += BATCH)
    await query(
      `insert into ${table}(document_id, ${NAMES}, words, vector)
       select $2::bigint, ${NAMES}, array_to_tsvector(array_remove(string_to_array(terms, ' '), '')), vector::vector
       from json_to_recordset($1::text::json) as given(${COLUMNS})`,
      [storableJson(passages.slice(at, at + BATCH).map(rowOf)), documentId],
    );
}

function rowOf({ ordinal, level, section, from, to, pages, text, terms, length, concepts, vector }: PassageFields) {
  return {
    ordinal,
    level,
    section: storableJson(section),
    section_path: section.join(SECTION_SEPARATOR),
    char_from: from,
    char_to: to,
    page_from: pages?.[0] ?? null,
    page_to: pages?.[1] ?? null,
    text,
    terms,
    length,
    concepts: storableJson(concepts ?? []),
    vector: vector ? writeVector(vector) : null,
  };
}

/**
 * Adds (`1`) or subtracts (`-1`) the term counts of one document. Terms are sorted, so that concurrent writers cannot
 * deadlock.
 */
export async function setFrequencies(
  { query }: PostgresSession,
  { schema, kind, documentId }: { readonly schema: string; readonly kind: PassageKind; readonly documentId: number },
  sign: 1 | -1,
): Promise<void> {
  await query(
    `insert into ${schema}.term(kind, term, frequency)
     select $1, lexeme collate "C", $3::integer * count(*)
     from ${schema}.${kind}, unnest(tsvector_to_array(words)) as lexeme where document_id = $2
     group by lexeme order by lexeme collate "C"
     on conflict (kind, term) do update set frequency = term.frequency + excluded.frequency`,
    [kind, documentId, sign],
  );
  await query(
    `update ${schema}.size set passages = size.passages + $3::integer * own.passages,
       length = size.length + $3::integer * own.length
     from (select count(*) as passages, coalesce(sum(length), 0) as length
           from ${schema}.${kind} where document_id = $2) as own
     where kind = $1`,
    [kind, documentId, sign],
  );
}

/** Removes a document. Returns undefined if it does not exist. */
export async function removeDocument(
  session: PostgresSession,
  schema: string,
  sourceId: string,
): Promise<(DeleteResult & { readonly created: string }) | undefined> {
  const [row] = await session.query(`select id, created from ${schema}.document where source_id = $1 for update`, [
    sourceId,
  ]);
  if (!row) return undefined;
  const documentId = Number(row["id"]);
  const counts: number[] = [];
  for (const kind of ["chunk", "summary"] as const) {
    await setFrequencies(session, { schema, kind, documentId }, -1);
    const gone = await session.query(
      `with gone as (delete from ${schema}.${kind} where document_id = $1 returning 1) select count(*) as n from gone`,
      [documentId],
    );
    counts.push(Number(gone[0]?.["n"]));
  }
  await session.query(`delete from ${schema}.document where id = $1`, [documentId]);
  await session.query(`delete from ${schema}.term where frequency <= 0`);
  return { chunks: counts[0]!, summaries: counts[1]!, created: String(row["created"]) };
}

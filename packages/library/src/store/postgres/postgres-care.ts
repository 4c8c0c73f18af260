import type { PostgresDriver } from "./postgres-driver.ts";
import type { StoreFinding } from "../store.ts";

/** Minimum number of passages with vectors for an index. Fewer vectors are compared one by one, which is exact. */
export const NEAREST_INDEX_FROM = 20_000;

const KINDS = ["chunk", "summary"] as const;

/** Compares the stored frequencies with the passages, and checks that the vector index exists if it is needed. */
export async function checkPostgres({ query }: PostgresDriver, schema: string): Promise<StoreFinding[]> {
  const findings: StoreFinding[] = [];
  for (const kind of KINDS) {
    const [wrong] = await query(
      `select count(*) as n from (
         select lexeme collate "C" as term, count(*) as frequency
         from ${schema}.${kind}, unnest(tsvector_to_array(words)) as lexeme group by 1
       ) as own full join (select * from ${schema}.term where kind = $1) as kept using (term)
       where own.frequency is distinct from kept.frequency`,
      [kind],
    );
    if (Number(wrong?.["n"]) > 0)
      findings.push({ what: `${Number(wrong?.["n"])} words of the ${kind} index are counted wrongly.`, canMend: true });
    if (await wantsIndex(query, schema, kind))
      findings.push({
        what:
          `The vectors of more than ${NEAREST_INDEX_FROM} passages have no index, so each search reads all ` +
          "vectors.",
        canMend: true,
      });
  }
  return findings;
}

/** Recounts the stored word frequencies and passages, and creates the vector index if it is needed. */
export async function repairPostgres(driver: PostgresDriver, schema: string): Promise<void> {
  await driver.transaction(async ({ query }) => {
    await query("select pg_advisory_xact_lock(hashtext($1))", [schema]);
    await query(`delete from ${schema}.term`);
    for (const kind of KINDS) {
      await query(
        `insert into ${schema}.term(kind, term, frequency)
         select $1, lexeme collate "C", count(*)
         from ${schema}.${kind}, unnest(tsvector_to_array(words)) as lexeme group by lexeme`,
        [kind],
      );
      await query(
        `update ${schema}.size set (passages, length) =
           (select count(*), coalesce(sum(length), 0) from ${schema}.${kind}) where kind = $1`,
        [kind],
      );
    }
  });
  for (const kind of KINDS)
    if (await wantsIndex(driver.query.bind(driver), schema, kind)) await makeIndex(driver, schema, kind);
}

async function wantsIndex(
  query: PostgresDriver["query"],
  schema: string,
  kind: (typeof KINDS)[number],
): Promise<boolean> {
  const [index] = await query("select to_regclass($1) as name", [`${schema}.${kind}_nearest`]);
  if (index?.["name"]) return false;
  const [row] = await query(
    `select count(*) as n from (select 1 from ${schema}.${kind} where vector is not null
     limit ${NEAREST_INDEX_FROM + 1}) as few`,
  );
  return Number(row?.["n"]) > NEAREST_INDEX_FROM;
}

async function makeIndex(driver: PostgresDriver, schema: string, kind: (typeof KINDS)[number]): Promise<void> {
  const [row] = await driver.query(
    `select vector_dims(vector) as n from ${schema}.${kind} where vector is not null limit 1`,
  );
  const dimensions = Number(row?.["n"]);
  await driver.script(
    `create index if not exists ${kind}_nearest on ${schema}.${kind}
     using hnsw ((vector::vector(${dimensions})) vector_ip_ops)`,
  );
}

import { createReadStream } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DocumentError } from "../documents/document-error.ts";
import type { JudgedQuestion } from "./ndcg.ts";

/** Limit of one collection, which is held in memory. */
const MAX_DOCUMENTS = 1_000_000;
const MAX_QUESTIONS = 100_000;
const QRELS = ["qrels/test.tsv", "qrels/dev.tsv", "qrels.tsv"];

export interface BeirDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface BeirCollection {
  readonly documents: readonly BeirDocument[];
  /** Questions with relevance judgements. */
  readonly questions: readonly JudgedQuestion[];
}

/**
 * Reads a collection in the BEIR layout: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`. Rejects with
 * `VALIDATION_ERROR` if a file does not have this layout.
 */
export async function readBeir(folder: string): Promise<BeirCollection> {
  const documents: BeirDocument[] = [];
  for await (const { at, fields } of rowsOf(join(folder, "corpus.jsonl"), MAX_DOCUMENTS)) {
    const { _id: id, title = "", text } = fields;
    if (typeof id !== "string" || typeof title !== "string" || typeof text !== "string")
      throw invalid(join(folder, "corpus.jsonl"), `line ${at} has no \`_id\` and \`text\``);
    documents.push({ id, title, text });
  }
  const texts = new Map<string, string>();
  for await (const { at, fields } of rowsOf(join(folder, "queries.jsonl"), MAX_QUESTIONS)) {
    const { _id: id, text } = fields;
    if (typeof id !== "string" || typeof text !== "string")
      throw invalid(join(folder, "queries.jsonl"), `line ${at} has no \`_id\` and \`text\``);
    texts.set(id, text);
  }
  const gains = await judgementsIn(folder);
  const questions = Array.from(gains, ([id, own]) => ({ text: texts.get(id), gains: own }));
  return { documents, questions: questions.filter((one): one is JudgedQuestion => one.text !== undefined) };
}

/**
 * Returns the judgements by question. The file has the columns `query-id`, `corpus-id` and `score`, separated by tabs,
 * and a header line.
 */
async function judgementsIn(folder: string): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const file = await qrelsOf(folder);
  const gains = new Map<string, Map<string, number>>();
  for await (const { at, line } of linesOf(file)) {
    const [question = "", document = "", score] = line.split("\t");
    if (at === 1 && Number.isNaN(Number(score))) continue;
    if (document === "" || score === undefined || Number.isNaN(Number(score)))
      throw invalid(file, `line ${at} does not contain question, document and score, separated by tabs`);
    const own = gains.get(question) ?? new Map<string, number>();
    gains.set(question, own.set(document, Number(score)));
  }
  return gains;
}

async function qrelsOf(folder: string): Promise<string> {
  for (const name of QRELS) {
    const file = join(folder, name);
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  throw invalid(folder, `it contains none of ${QRELS.join(", ")}`);
}

async function* rowsOf(file: string, most: number) {
  let count = 0;
  for await (const { at, line } of linesOf(file)) {
    count += 1;
    if (count > most) throw new DocumentError("TOO_LARGE", `${file} has more than ${most} lines.`);
    yield { at, fields: fieldsIn(file, at, line) };
  }
}

function fieldsIn(file: string, at: number, line: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(line);
    if (typeof fields === "object" && fields !== null) return fields as Readonly<Record<string, unknown>>;
  } catch {
    // The error is thrown below.
  }
  throw invalid(file, `line ${at} is no JSON`);
}

async function* linesOf(file: string): AsyncGenerator<{ readonly at: number; readonly line: string }> {
  // Otherwise only the stream would report that the file cannot be opened.
  await access(file).catch((error: unknown) => {
    throw invalid(file, (error as Error).message);
  });
  let at = 0;
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    at += 1;
    if (line.trim() !== "") yield { at, line };
  }
}

function invalid(what: string, why: string): DocumentError {
  return new DocumentError(
    "VALIDATION_ERROR",
    `${what} is not a data set in the BEIR layout: ${why}. Expected are corpus.jsonl, queries.jsonl and ` +
      "qrels/test.tsv.",
  );
}

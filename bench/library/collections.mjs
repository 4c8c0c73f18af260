// Public collections of questions with judged answers, read from the folder in LIBRARY_EVAL.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Collections that the folder in LIBRARY_EVAL must contain, each in a subfolder with its name. */
export const SOURCES = [
  { folder: "cranfield", repository: "olivernn/cranfield", commit: "8f40ee931b7e11af05b9e3c7a364a15e0ebccc4e" },
  { folder: "piaf-ml", repository: "etalab-ia/piaf-ml", commit: "9c9abca01daf515714859330590dbb1c8121de6f" },
];

/** Returns the collections in the folder; `missing` names the others. */
export function readCollections(folder = process.env.LIBRARY_EVAL) {
  const readers = { cranfield: readCranfield, "piaf-ml": readHelpDesk };
  const has = ({ folder: name }) => folder !== undefined && existsSync(join(folder, name));
  return {
    collections: SOURCES.filter(has).map(({ folder: name }) => readers[name](join(folder, name))),
    missing: SOURCES.filter((source) => !has(source)),
  };
}

/**
 * Reads 1,400 abstracts on aerodynamics and 225 questions, with four grades: 1 is a complete answer, 4 the least. One
 * paper of each question has the grade -1: the question arose from it, so it answers the question best.
 */
function readCranfield(folder) {
  const file = (name) => readFileSync(join(folder, "data/cran", name), "utf8");
  const documents = records(file("cran.all.1400")).map(({ I, T, W }) => ({ id: I, title: T, text: W || T }));
  const questions = records(file("cran.qry")).map(({ W }) => ({ text: W, gains: new Map() }));
  for (const line of file("cranqrel").split("\n")) {
    const [query, document, grade] = line.trim().split(/\s+/);
    if (document !== undefined) questions[Number(query) - 1].gains.set(document, 5 - Math.max(Number(grade), 0));
  }
  return { name: "Cranfield", language: "en", documents, questions };
}

function records(text) {
  return text
    .split(/^\.I /mu)
    .slice(1)
    .map((record) => {
      const [id, ...parts] = record.split(/^\.([TABW])\s*$/mu);
      const fields = { I: String(Number(id.trim())), T: "", W: "" };
      for (let at = 0; at < parts.length; at += 2) fields[parts[at]] = parts[at + 1].replaceAll(/\s+/gu, " ").trim();
      return fields;
    });
}

/** Reads answers of a French authority, each to one question. */
function readHelpDesk(folder) {
  const { data } = JSON.parse(readFileSync(join(folder, "clients/cnil/knowledge_base/squad.json"), "utf8"));
  const pairs = data.flatMap(({ paragraphs }) => paragraphs.map(({ context, qas }) => ({ context, qas })));
  return {
    name: "French help desk",
    language: "fr",
    documents: pairs.map(({ context }, at) => ({ id: String(at), title: "", text: context })),
    questions: pairs.flatMap(({ qas }, at) =>
      qas.map(({ question }) => ({ text: question, gains: new Map([[String(at), 1]]) })),
    ),
  };
}

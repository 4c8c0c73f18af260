import { isJsonObject, listMember, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { visibleName } from "../../core/names/names.ts";
import type { ToolRecord } from "../../core/sources/records.ts";
import type { PreparedTool } from "../source-part.ts";
import type { Field, Ranking } from "./ranking.ts";
import { proseSymbols, symbolWords } from "./symbol-words.ts";
import { fieldWords, informativeWords } from "./words.ts";

/** Words of one tool with their weights. They depend only on the tool, so they are computed once. */
export interface SearchDocument {
  readonly weights: ReadonlyMap<string, number>;
  /** Distinct stems of the name. */
  readonly nameStems: ReadonlySet<string>;
  /** Stems of the description in order. Query words that are adjacent count more if they are adjacent here too. */
  readonly description: readonly string[];
  /** Words of name and keywords as written, for matching typing errors and starts of words. */
  readonly nameWords: readonly string[];
}

const documents = new WeakMap<ToolRecord, SearchDocument>();

/** Returns the words of a tool. A tool must always be searched with the same ranking. */
export function documentOf(tool: PreparedTool, ranking: Ranking): SearchDocument {
  let document = documents.get(tool.record);
  if (!document) documents.set(tool.record, (document = readDocument(tool, ranking)));
  return document;
}

function readDocument({ record, entry }: PreparedTool, ranking: Ranking): SearchDocument {
  const { source } = record;
  const { fields, leadWords, leadWeight } = ranking;
  const name = visibleName(record);
  const keywords = record.keywords.join(" ");
  const parameters = parameterWords(entry["inputSchema"]);
  const nameStems = fieldWords(name);
  const prose = [stringMember(entry, "title") ?? "", stringMember(entry, "description") ?? ""].join(" ");
  const description = fieldWords(prose);
  const server = source.namespace === source.id ? source.id : `${source.namespace} ${source.id}`;
  const weights = new Map<string, number>();
  const add = fieldAdder(weights);
  add(fields.name, nameStems);
  // Symbols are added separately, so that they do not change the length of a field, which affects the scores of its
  // words.
  add(fields.name, proseSymbols(name));
  add(fields.server, fieldWords(server));
  add(fields.keywords, [...fieldWords(keywords), ...symbolWords(keywords)]);
  add(fields.description, proseSymbols(prose));
  add(fields.description, description, { words: leadWords, weight: leadWeight });
  add(fields.parameterNames, fieldWords(parameters.names));
  add(fields.parameterTexts, fieldWords(parameters.texts));
  return {
    weights,
    nameStems: new Set(nameStems),
    description,
    nameWords: [...new Set([...informativeWords(name), ...informativeWords(keywords)])],
  };
}

const NO_LEAD = { words: 0, weight: 1 };

function fieldAdder(weights: Map<string, number>) {
  return (field: Field, words: readonly string[], lead = NO_LEAD): void => {
    const share = field.weight / (1 - field.lengthEffect + (field.lengthEffect * words.length) / field.usualLength);
    for (const [at, word] of words.entries())
      weights.set(word, (weights.get(word) ?? 0) + (at < lead.words ? lead.weight * share : share));
  };
}

const MAX_SCHEMA_DEPTH = 6;
const MAX_SCHEMA_CHARS = 8000;

/** Returns the words of the parameters: their names, and their descriptions and enum values. */
function parameterWords(schema: unknown): { readonly names: string; readonly texts: string } {
  const names: string[] = [];
  const texts: string[] = [];
  let room = MAX_SCHEMA_CHARS;
  const add = (list: string[], text: string): void => {
    if (room > 0) list.push(text);
    room -= text.length + 1;
  };
  // Texts over the limit are skipped, because an untrusted server may list many of them.
  const addChoices = (choices: readonly unknown[]): void => {
    for (const one of choices) {
      if (room <= 0) return;
      if (typeof one === "string") add(texts, one);
    }
  };
  const addProperties = (properties: JsonObject, depth: number): void => {
    for (const name of Object.keys(properties)) {
      if (room <= 0) return;
      add(names, name);
      visit(properties[name], depth);
    }
  };
  const visit = (value: unknown, depth: number): void => {
    if (!isJsonObject(value) || depth > MAX_SCHEMA_DEPTH || room <= 0) return;
    if (depth > 0) add(texts, stringMember(value, "description") ?? "");
    addChoices(listMember(value, "enum"));
    addProperties(objectMember(value, "properties") ?? {}, depth + 1);
    visit(value["items"], depth + 1);
    for (const key of ["anyOf", "oneOf", "allOf"]) for (const one of listMember(value, key)) visit(one, depth + 1);
  };
  visit(schema, 0);
  return { names: names.join(" "), texts: texts.join(" ") };
}

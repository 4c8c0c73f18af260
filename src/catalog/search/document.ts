import { isJsonObject, stringMember, type JsonObject } from "../../core/json.ts";
import { visibleName } from "../../core/names.ts";
import type { ToolRecord } from "../../core/records.ts";
import type { PreparedTool } from "../source-part.ts";
import { fieldWords, tellingWords } from "./words.ts";

/** How much a word says, by where it stands, and how long such a text usually is. */
interface Field {
  readonly weight: number;
  /** Words in a usual text of this kind; longer texts count each word for less. */
  readonly usualLength: number;
  /** How much length matters, from 0 to 1. */
  readonly lengthEffect: number;
}

const FIELDS = {
  name: { weight: 2.5, usualLength: 4, lengthEffect: 0.7 },
  server: { weight: 1.5, usualLength: 3, lengthEffect: 0.3 },
  keywords: { weight: 2.2, usualLength: 5, lengthEffect: 0.2 },
  description: { weight: 1, usualLength: 25, lengthEffect: 0.6 },
  parameters: { weight: 0.4, usualLength: 30, lengthEffect: 0.6 },
} as const satisfies Record<string, Field>;

type FieldName = keyof typeof FIELDS;

/** The words of one tool, each with its weight. Depends on nothing but the tool, so it is made once. */
export interface SearchDocument {
  readonly weights: ReadonlyMap<string, number>;
  /** Words of name and keywords as they are written: what a slip of the keyboard or a beginning of a word is looked for in. */
  readonly nameWords: readonly string[];
}

const documents = new WeakMap<ToolRecord, SearchDocument>();

export function documentOf(tool: PreparedTool): SearchDocument {
  let document = documents.get(tool.record);
  if (!document) documents.set(tool.record, (document = readDocument(tool)));
  return document;
}

function readDocument({ record, entry }: PreparedTool): SearchDocument {
  const { source } = record;
  const texts: Record<FieldName, string> = {
    name: visibleName(record),
    server: source.namespace === source.id ? source.id : `${source.namespace} ${source.id}`,
    keywords: record.keywords.join(" "),
    description: [stringMember(entry, "title") ?? "", stringMember(entry, "description") ?? ""].join(" "),
    parameters: parameterText(entry["inputSchema"]),
  };
  const weights = new Map<string, number>();
  for (const [name, text] of Object.entries(texts)) addField(weights, FIELDS[name as FieldName], fieldWords(text));
  return { weights, nameWords: [...new Set([...tellingWords(texts.name), ...tellingWords(texts.keywords)])] };
}

function addField(weights: Map<string, number>, field: Field, words: readonly string[]): void {
  const share = field.weight / (1 - field.lengthEffect + (field.lengthEffect * words.length) / field.usualLength);
  for (const word of words) weights.set(word, (weights.get(word) ?? 0) + share);
}

const MAX_SCHEMA_DEPTH = 6;
const MAX_SCHEMA_CHARS = 8000;

/** Names, descriptions and enum values of the parameters. */
function parameterText(schema: unknown): string {
  const texts: string[] = [];
  let room = MAX_SCHEMA_CHARS;
  const add = (text: string): void => {
    if (room > 0) texts.push(text);
    room -= text.length + 1;
  };
  const visit = (value: unknown, depth: number): void => {
    if (!isJsonObject(value) || depth > MAX_SCHEMA_DEPTH || room <= 0) return;
    if (depth > 0) add(stringMember(value, "description") ?? "");
    if (Array.isArray(value["enum"])) for (const one of value["enum"]) if (typeof one === "string") add(one);
    visitProperties(value["properties"], depth, add, visit);
    visit(value["items"], depth + 1);
    for (const key of ["anyOf", "oneOf", "allOf"]) if (Array.isArray(value[key])) for (const one of value[key]) visit(one, depth + 1);
  };
  visit(schema, 0);
  return texts.join(" ");
}

function visitProperties(properties: unknown, depth: number, add: (text: string) => void, visit: (value: unknown, depth: number) => void): void {
  if (!isJsonObject(properties)) return;
  for (const [name, property] of Object.entries(properties satisfies JsonObject)) {
    add(name);
    visit(property, depth + 1);
  }
}

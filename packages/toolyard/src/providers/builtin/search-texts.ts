import { stringifyExact } from "../../core/json/exact-json.ts";
import { FURTHER_RESULTS } from "../../catalog/search/limits.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { SearchAnswer, SearchHit } from "../../core/ports/ports.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** The level of detail of an answer. */
export interface AnswerShape {
  /** Number of hits in the first text. */
  readonly count: number;
  readonly detail: "brief" | "full";
  /** True if all hits of the first text have their schema; otherwise only likely ones have. */
  readonly isWhole: boolean;
  /** True if the query requests all tools, by name. */
  readonly isList: boolean;
}

/** Most hits with schema by default. */
const MAX_WHOLE = 3;
/** Share of the best score from which a hit gets its schema. */
const LIKELY_SHARE = 0.97;
/** Most characters of such hits together. */
const MAX_WHOLE_CHARS = 1200;
/** Lengths for hits without schema by default: four in the first text, some a line, the rest a name. */
const SHORT_DESCRIPTION_CHARS = 72;
const SHORT_LINE_CHARS = 40;
const SHORT_LINES = 4;
const LINE_CHARS = 100;
const MAX_PARAMETERS = 6;
/** Characters shared by the descriptions of a brief answer, and the most and the least for one. */
const BRIEF_CHARS = 480;
const MAX_BRIEF_CHARS = 100;
const MIN_BRIEF_CHARS = 24;

/** Returns the texts of an answer with hits: the prescribed JSON array, and lines for further hits. */
export function searchTexts(answer: SearchAnswer, shape: AnswerShape): readonly string[] {
  const { count, detail, isWhole, isList } = shape;
  const shown = answer.hits.slice(0, count);
  if (detail === "brief") return [stringifyExact(briefEntries(shown)), ...countText(answer, count, isList)];
  const whole = isWhole ? shown.length : wholeCount(shown);
  const entries = shown.map((hit, at) => (at < whole ? wholeEntry(hit) : shortEntry(hit)));
  return [stringifyExact(entries), ...furtherText(answer, shape)];
}

function wholeEntry({ name, description, score, inputSchema }: SearchHit): JsonObject {
  return { name, description, score, inputSchema };
}

function shortEntry({ name, description, score, inputSchema }: SearchHit): JsonObject {
  const { properties } = inputSchema;
  const parameters = isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_PARAMETERS) : [];
  return { name, description: firstSentence(description, SHORT_DESCRIPTION_CHARS), score, parameters };
}

function briefEntries(hits: readonly SearchHit[]): JsonObject[] {
  const room = Math.max(MIN_BRIEF_CHARS, Math.min(MAX_BRIEF_CHARS, Math.floor(BRIEF_CHARS / hits.length)));
  return hits.map(({ name, description, score }) => ({ name, description: firstSentence(description, room), score }));
}

/** Returns one to three: the likely hits that fit. The exact name of a tool gives only that one. */
function wholeCount(hits: readonly SearchHit[]): number {
  const best = hits[0]!.score;
  let chars = 0;
  let count = 0;
  for (const hit of hits.slice(0, MAX_WHOLE)) {
    chars += stringifyExact(wholeEntry(hit)).length;
    if (count > 0 && (hit.score < best * LIKELY_SHARE || chars > MAX_WHOLE_CHARS)) break;
    count += 1;
  }
  return count;
}

function countText({ total }: SearchAnswer, count: number, isList: boolean): readonly string[] {
  if (!isList && total <= count) return [];
  return [`${howMany(total, isList)}.`];
}

function howMany(total: number, isList: boolean): string {
  if (!isList) return `${total} tools match in all`;
  return `There ${total === 1 ? "is 1 tool" : `are ${total} tools`} in all`;
}

/** Returns nothing if the first text is complete. A list of everything always states the number of tools. */
function furtherText({ hits, total }: SearchAnswer, { count, isList, isWhole }: AnswerShape): readonly string[] {
  const further = hits.slice(count, count + FURTHER_RESULTS);
  if (further.length === 0) return isList ? [`${howMany(total, true)}.`] : [];
  const unnamed = total - count - further.length;
  const last =
    unnamed > 0
      ? [`and ${unnamed} more: ${isList ? "ask for what you need in a few words" : "a narrower query finds them"}.`]
      : [];
  const first = `${howMany(total, isList)}. The next, without schema (search for a name to get it):`;
  const lines = isWhole
    ? further.map((hit) => line(hit, LINE_CHARS))
    : [
        ...further.slice(0, SHORT_LINES).map((hit) => line(hit, SHORT_LINE_CHARS)),
        ...nameLine(further.slice(SHORT_LINES)),
      ];
  return [[first, ...lines, ...last].join("\n")];
}

function nameLine(hits: readonly SearchHit[]): readonly string[] {
  return hits.length === 0 ? [] : [`- ${hits.map(({ name }) => name).join(", ")}`];
}

function line({ name, server, description }: SearchHit, room: number): string {
  const text = firstSentence(description, room);
  return `- ${name}${name.startsWith(server) ? "" : ` (${server})`}${text === "" ? "" : `: ${text}`}`;
}

/** Returns the first sentence of a description, truncated if it does not fit. */
function firstSentence(description: string, room: number): string {
  const text = firstChars(description, 4 * room)
    .replaceAll(/\s+/g, " ")
    .trim();
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence.length > room ? `${firstChars(sentence, room - 1).trimEnd()}…` : sentence;
}

import { stringifyExact } from "../../core/json/exact-json.ts";
import { FURTHER_RESULTS } from "../../catalog/search/limits.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { SearchAnswer, SearchHit } from "../../core/ports/ports.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Level of detail of a search result. */
export interface AnswerShape {
  /** Number of hits in the first text of the answer, a JSON array. */
  readonly count: number;
  readonly detail: "brief" | "full";
  /** True if all hits of the first text have their schema. If false, only the likely hits have it. */
  readonly isWhole: boolean;
  /** True if the query requests a list of all tools, ordered by name. */
  readonly isList: boolean;
}

/** Maximum number of hits with schema by default. */
const MAX_WHOLE = 3;
/** Minimum score of a hit with schema, as a share of the best score. */
const LIKELY_SHARE = 0.97;
/** Maximum number of characters of the hits with schema together. */
const MAX_WHOLE_CHARS = 1200;
/**
 * Maximum length of the description of a hit without schema, by default. The next three constants are for further hits,
 * which have one line each.
 */
const SHORT_DESCRIPTION_CHARS = 72;
const SHORT_LINE_CHARS = 40;
const SHORT_LINES = 4;
const LINE_CHARS = 100;
const MAX_PARAMETERS = 6;
/**
 * Number of characters that the descriptions of a brief result share, and the maximum and minimum for one description.
 */
const BRIEF_CHARS = 480;
const MAX_BRIEF_CHARS = 100;
const MIN_BRIEF_CHARS = 24;

/** Returns the texts of a search result: the JSON array that clients expect, and lines for further hits. */
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

/**
 * Returns the number of hits with schema, one to three: the likely hits that fit. For the exact name of a tool, only
 * that tool.
 */
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

/**
 * Returns the text about further hits; none if the first text is complete. A list of all tools always states their
 * number.
 */
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

/** Returns the first sentence of a description, truncated to `room`. */
function firstSentence(description: string, room: number): string {
  const text = firstChars(description, 4 * room)
    .replaceAll(/\s+/g, " ")
    .trim();
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence.length > room ? `${firstChars(sentence, room - 1).trimEnd()}…` : sentence;
}

import type { SearchFilter, SearchInstead } from "../../core/ports.ts";
import { nearest } from "../../core/suggest.ts";
import type { PreparedTool } from "../source-part.ts";
import { passesFilter } from "./filter.ts";
import { queryWords } from "./words.ts";

const MAX_NEAR = 5;
const MAX_WORDS = 8;

/** Where to look when nothing was found: names that are written like a word of the query, and the servers that there are. */
export function insteadOf(query: string, { server = "" }: SearchFilter, separator: string, permitted: readonly PreparedTool[]): SearchInstead {
  const tools = permitted.filter((tool) => tool.record.role === undefined);
  const names = tools.map((tool) => tool.key);
  const words = [query.trim(), ...queryWords(query).slice(0, MAX_WORDS).map(({ text }) => text)];
  const near = [...new Set(words.flatMap((word) => nearest(word, names, MAX_NEAR)))].slice(0, MAX_NEAR);
  const counts = new Map<string, number>();
  for (const { record } of tools) counts.set(record.source.id, (counts.get(record.source.id) ?? 0) + 1);
  const servers = Array.from(counts, ([id, count]) => ({ id, tools: count })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { near, servers, noSuchServer: !tools.some(passesFilter({ server }, separator)) };
}

import { matchesGlob } from "../../core/text/glob.ts";
import type { RenderedList } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Part of a list that a request selects. */
export interface ListPageOptions {
  /** Maximum number of entries. Absent: all entries. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  /** Glob that selects entries by name. */
  readonly name?: string;
}

export interface ListPage {
  readonly entries: readonly JsonObject[];
  /** Number of entries in the whole list, the same on every page. */
  readonly total: number;
  readonly nextCursor?: string;
}

/** Maximum page size that a request may give. */
const MAX_LIMIT = 1000;

/** Reads `?limit=`, `?cursor=` and `?name=`. Throws a `Refusal` with status 400 that names the error. */
export function readPageOptions(query: URLSearchParams): ListPageOptions {
  const limit = readLimit(query);
  const [cursor, name] = [query.get("cursor"), query.get("name")];
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === null ? {} : { cursor }),
    ...(name === null ? {} : { name }),
  };
}

export function readLimit(query: URLSearchParams): number | undefined {
  const text = query.get("limit");
  if (text === null) return undefined;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new Refusal(
    400,
    `\`limit\` must be a whole number from 1 to ${MAX_LIMIT}, got ${JSON.stringify(firstChars(text, 40))}.`,
  );
}

/**
 * Returns one page of a list. A cursor is valid for one state of the list and refused after a change: pages of
 * different states could omit or repeat entries.
 */
export function pageOf(list: RenderedList, { limit, cursor, name }: ListPageOptions): ListPage {
  const entries =
    name === undefined ? list.entries : list.entries.filter((entry) => matchesGlob(name, String(entry["name"])));
  const start = cursor === undefined ? 0 : readCursor(cursor, list.version);
  if (start > entries.length) throw STALE;
  const end = limit === undefined ? entries.length : start + limit;
  const page = { entries: entries.slice(start, end), total: entries.length };
  return end < entries.length
    ? { ...page, nextCursor: Buffer.from(`${list.version} ${end}`).toString("base64url") }
    : page;
}

function readCursor(cursor: string, version: string): number {
  const [of, start] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  if (of !== version || start === undefined || !/^\d+$/.test(start)) throw STALE;
  return Number(start);
}

const STALE = new Refusal(400, "`cursor` does not belong to the current list. Repeat the request without it.");

import { matchesGlob } from "../../core/text/glob.ts";
import type { RenderedList } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** The part of a list that a request selects. */
export interface ListPageOptions {
  /** Most entries; absent: all. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  /** A glob over names. */
  readonly name?: string;
}

export interface ListPage {
  readonly entries: readonly JsonObject[];
  /** Total number of entries, on every page. */
  readonly total: number;
  readonly nextCursor?: string;
}

/** Longest page that a request may name. */
const MAX_LIMIT = 1000;

/** Reads `?limit=`, `?cursor=` and `?name=`. Throws a 400 that names the fault. */
export function pageWish(query: URLSearchParams): ListPageOptions {
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
 * Returns one page of a list. A cursor names its list: pages of a changed list would lose or repeat entries, so it is
 * refused.
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

import { stringifyExact } from "../../core/json/exact-json.ts";
import type { RenderedList } from "../../core/ports/hub-port.ts";

export interface McpListPage {
  readonly json: string;
  readonly nextCursor?: string;
}

/**
 * Returns one page of a list, or `undefined` if the cursor does not belong to this list in its current state. Without a
 * page size, the whole list is the only page. A cursor contains the version of the list, because pages of different
 * versions could omit or repeat entries.
 */
export function pageOf(
  list: RenderedList,
  cursor: string | undefined,
  pageSize: number | undefined,
): McpListPage | undefined {
  if (pageSize === undefined) return cursor === undefined ? { json: list.json } : undefined;
  const start = cursor === undefined ? 0 : readCursor(cursor, list, pageSize);
  if (start === undefined) return undefined;
  let pages = made.get(list);
  if (!pages) made.set(list, (pages = new Map()));
  const key = `${pageSize}:${start}`;
  let page = pages.get(key);
  if (!page) pages.set(key, (page = cut(list, start, start + pageSize)));
  return page;
}

/** Cached pages: at most one set per page size, released together with the list. */
const made = new WeakMap<RenderedList, Map<string, McpListPage>>();

function cut(list: RenderedList, start: number, end: number): McpListPage {
  if (start === 0 && end >= list.entries.length) return { json: list.json };
  const json = stringifyExact(list.entries.slice(start, end));
  return end < list.entries.length ? { json, nextCursor: writeCursor(list.version, end) } : { json };
}

function writeCursor(version: string, start: number): string {
  return Buffer.from(JSON.stringify([version, start])).toString("base64url");
}

function readCursor(cursor: string, list: RenderedList, pageSize: number): number | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length !== 2 || parsed[0] !== list.version) return undefined;
  const start: unknown = parsed[1];
  const isStart =
    typeof start === "number" &&
    Number.isInteger(start) &&
    start > 0 &&
    start % pageSize === 0 &&
    start < list.entries.length;
  return isStart ? start : undefined;
}

import { isJsonObject } from "../../core/json/json.ts";
import type { SearchAnswer, SearchFilter, SearchHit, SearchInstead } from "../../core/ports/ports.ts";
import { askHub } from "./query-hub.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import type { Io } from "../output/io.ts";
import { parseUrl, readToken } from "./session.ts";

/** Time limit of a search at a remote hub, including the time that the hub may wait for starting servers. */
const ANSWER_WITHIN_MS = 35_000;

export interface RemoteSearch {
  readonly query: string;
  readonly limit: number;
  readonly filter: SearchFilter;
}

/**
 * Searches the hub behind `--url` with that hub's own index, which includes its servers and embeddings. Resolves with
 * `undefined` if no hub answers; its lists are then searched locally.
 */
export async function searchThere(
  wanted: RemoteSearch,
  options: SharedOptions,
  io: Io,
): Promise<SearchAnswer | undefined> {
  if (options.url === undefined) return undefined;
  const token = readToken(options, io);
  try {
    const url = addressOf(parseUrl(options.url), wanted);
    const { status, json } = await askHub({ url, token, timeoutMs: ANSWER_WITHIN_MS }, io);
    return status === 200 ? readAnswer(json) : undefined;
  } catch {
    return undefined;
  }
}

function addressOf(endpoint: URL, { query, limit, filter }: RemoteSearch): URL {
  const url = new URL(endpoint);
  url.pathname = url.pathname.replace(/\/(mcp|sse)?\/?$/, "/api/tools");
  const { server, readOnly, why } = filter;
  url.search = new URLSearchParams({
    query,
    limit: String(limit),
    ...(server !== undefined && { server }),
    ...(readOnly && { read_only: "true" }),
    ...(why && { why: "true" }),
    tool_names: "mcp",
    tool_mode: endpoint.searchParams.get("tool_mode") ?? "show_all",
  }).toString();
  return url;
}

function readAnswer(body: unknown): SearchAnswer | undefined {
  if (!isJsonObject(body)) return undefined;
  const { tools, total, instead, wordsAlone } = body;
  if (!Array.isArray(tools) || !tools.every(isHit) || typeof total !== "number") return undefined;
  return { hits: tools, total, ...(isInstead(instead) && { instead }), ...(wordsAlone === true && { wordsAlone }) };
}

function isHit(value: unknown): value is SearchHit {
  return (
    isJsonObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["description"] === "string" &&
    typeof value["score"] === "number"
  );
}

function isInstead(value: unknown): value is SearchInstead {
  return isJsonObject(value) && Array.isArray(value["near"]) && Array.isArray(value["servers"]);
}

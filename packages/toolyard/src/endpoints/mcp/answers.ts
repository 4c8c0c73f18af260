import { KIND_META_KEY } from "../../core/calls/kinds.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import type { ListKind, RenderedList } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { stringifyMembers, stringifyValue } from "../../core/json/json-text.ts";
import { RPC, type RequestId } from "../../wire/messages.ts";
import type { DialectAnswer } from "../dialect.ts";

/** Result of an MCP method, before the id and the members of the era are added. */
export type McpAnswer =
  | { readonly type: "result"; readonly result: JsonObject }
  /** List with serialised entries. `member` is `tools`, `resources`, …; `json` is the text of the array. */
  | ListAnswer
  /** Answers that other dialects have too: errors, no response, and values of any form. */
  | DialectAnswer;

export interface ListAnswer {
  readonly type: "list";
  readonly kind: ListKind;
  /** Whole list from which the page was taken. */
  readonly list: RenderedList;
  readonly member: string;
  readonly json: string;
  readonly nextCursor?: string;
}

export const SILENCE: McpAnswer = Object.freeze({ type: "silence" });

export function resultAnswer(result: JsonObject): McpAnswer {
  return { type: "result", result };
}

export function errorAnswer(code: number, message: string, data?: unknown): McpAnswer {
  return { type: "error", error: data === undefined ? { code, message } : { code, message, data } };
}

/** Answers an internal error of the hub. The caller gets an id to quote; the log has the details. */
export function internalAnswer(callId: string): McpAnswer {
  return errorAnswer(RPC.internal, `Internal error. The hub's log has the details under error id ${callId}.`, {
    [KIND_META_KEY]: "internal",
    errorId: callId,
  });
}

/**
 * Returns the reply as one line of JSON text, or `undefined` if there is none. `extra` members are added to a result
 * that lacks them (`resultType`, `ttlMs`, `_meta` of the modern era). Serialised lists are inserted unchanged.
 */
export function replyText(id: RequestId | null, answer: McpAnswer, extra?: JsonObject): string | undefined {
  const head = `{"jsonrpc":"2.0","id":${stringifyExact(id)},`;
  switch (answer.type) {
    case "silence":
      return undefined;
    case "error":
      return `${head}"error":${stringifyExact(answer.error)}}`;
    case "value":
      return `${head}"result":${stringifyValue(answer.value)}}`;
    case "result":
      return `${head}"result":${stringifyMembers(extra ? { ...extra, ...answer.result } : answer.result)}}`;
    case "list":
      return listEnds(id, answer, extra).join(answer.json);
  }
}

/** Reply in three parts, of which the middle part was encoded before. */
export type SplicedReply = readonly [head: string, middle: Buffer, tail: string];

/**
 * Builds the reply for transports that accept bytes, if that avoids encoding a large list for each caller. Otherwise
 * returns `undefined`.
 */
export function splicedReply(id: RequestId | null, answer: ListAnswer, extra?: JsonObject): SplicedReply | undefined {
  if (answer.json.length < MIN_SPLICED_CHARS || answer.json !== answer.list.json) return undefined;
  const { bytes } = answer.list;
  if (!bytes) return undefined;
  const [head, tail] = listEnds(id, answer, extra);
  return [head, bytes, tail];
}

const MIN_SPLICED_CHARS = 64 * 1024;

function listEnds(
  id: RequestId | null,
  { member, nextCursor }: ListAnswer,
  extra: JsonObject | undefined,
): [head: string, tail: string] {
  return [
    `{"jsonrpc":"2.0","id":${stringifyExact(id)},"result":{${stringifyExact(member)}:`,
    `${listTail(nextCursor, extra)}}}`,
  ];
}

function listTail(nextCursor: string | undefined, extra: JsonObject | undefined): string {
  const members: JsonObject = { ...extra, ...(nextCursor === undefined ? {} : { nextCursor }) };
  const text = stringifyExact(members);
  return text === "{}" ? "" : `,${text.slice(1, -1)}`;
}

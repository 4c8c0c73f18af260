import type { ServerResponse } from "node:http";
import { atTurnEnd } from "../core/turn-end.ts";

/** Names and values of further headers, in turn. */
export type RawHeaders = readonly string[];

/** `text` is JSON already. It leaves at the end of the turn. */
export function sendJson(response: ServerResponse, status: number, text: string, headers: RawHeaders = []): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, [...headers, "content-type", "application/json", "content-length", String(length)]);
  // A string leaves in one write with the head, where a buffer takes two; plain ASCII need not be encoded.
  atTurnEnd(() => void response.end(text, length === text.length ? "latin1" : "utf8"));
}

/** JSON text in pieces, sent as they are. */
export function sendJsonPieces(
  response: ServerResponse,
  status: number,
  pieces: readonly (string | Buffer)[],
  headers: RawHeaders = [],
): void {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  response.writeHead(status, [...headers, "content-type", "application/json", "content-length", String(length)]);
  for (const piece of pieces) response.write(piece);
  response.end();
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/** A status alone. */
export function sendEmpty(response: ServerResponse, status: number): void {
  // 204 has no body by its nature, and may not say how long it is.
  response.writeHead(status, status === 204 ? {} : { "content-length": 0 });
  response.end();
}

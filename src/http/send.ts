import type { HttpAnswer } from "./answer.ts";
import type { RawHeaders } from "./wire.ts";

/** `text` is JSON already. */
export function sendJson(answer: HttpAnswer, status: number, text: string, headers: RawHeaders = []): void {
  answer.send(status, [...headers, "content-type", "application/json"], text);
}

/** JSON text in pieces, sent as they are. */
export function sendJsonPieces(
  answer: HttpAnswer,
  status: number,
  pieces: readonly (string | Uint8Array)[],
  headers: RawHeaders = [],
): void {
  answer.sendPieces(status, [...headers, "content-type", "application/json"], pieces);
}

export function sendText(answer: HttpAnswer, status: number, text: string): void {
  answer.send(status, ["content-type", "text/plain; charset=utf-8"], text);
}

/** A status alone. */
export function sendEmpty(answer: HttpAnswer, status: number): void {
  answer.send(status, []);
}

import type { HttpAnswer } from "./answer.ts";

/** What whoever sends JSON with headers of its own puts beside them. */
export const JSON_CONTENT = ["content-type", "application/json"] as const;

/** `text` is JSON already. */
export function sendJson(answer: HttpAnswer, status: number, text: string): void {
  answer.send(status, JSON_CONTENT, text);
}

/** JSON text in pieces, sent as they are. */
export function sendJsonPieces(answer: HttpAnswer, status: number, pieces: readonly (string | Uint8Array)[]): void {
  answer.sendPieces(status, JSON_CONTENT, pieces);
}

export function sendText(answer: HttpAnswer, status: number, text: string): void {
  answer.send(status, ["content-type", "text/plain; charset=utf-8"], text);
}

/** A status alone. */
export function sendEmpty(answer: HttpAnswer, status: number): void {
  answer.send(status, []);
}

import type { HttpAnswer } from "./answer.ts";

/** Headers that declare JSON content, for answers that add further headers. */
export const JSON_CONTENT = Object.freeze(["content-type", "application/json"] as const);

/** Sends `text`, which must be JSON. */
export function sendJson(answer: HttpAnswer, status: number, text: string): void {
  answer.send(status, JSON_CONTENT, text);
}

/** Sends JSON text in pieces, unchanged. */
export function sendJsonPieces(answer: HttpAnswer, status: number, pieces: readonly (string | Uint8Array)[]): void {
  answer.sendPieces(status, JSON_CONTENT, pieces);
}

export function sendText(answer: HttpAnswer, status: number, text: string): void {
  answer.send(status, ["content-type", "text/plain; charset=utf-8"], text);
}

/** Sends a status without a body. */
export function sendEmpty(answer: HttpAnswer, status: number): void {
  answer.send(status, []);
}

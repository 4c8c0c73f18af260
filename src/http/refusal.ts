import type { ServerResponse } from "node:http";

/** A request that HTTP itself answers: thrown by whoever finds the fault, written by the listener. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The body of a refusal, in the shape that MCP clients look for whatever the path. */
export function refusalBody(message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null });
}

/** `body` is the JSON text to send in place of MCP's. */
export function sendRefusal(response: ServerResponse, refusal: Refusal, body = refusalBody(refusal.message)): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
  sendJson(response, refusal.status, body);
}

/** `text` is JSON already. */
export function sendJson(response: ServerResponse, status: number, text: string): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": length });
  // A string leaves in one write with the head, where a buffer takes two; plain ASCII need not be encoded.
  response.end(text, length === text.length ? "latin1" : "utf8");
}

/** JSON text in pieces, sent as they are. */
export function sendJsonPieces(response: ServerResponse, status: number, pieces: readonly (string | Buffer)[]): void {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  response.writeHead(status, { "content-type": "application/json", "content-length": length });
  for (const piece of pieces) response.write(piece);
  response.end();
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/** A status alone. */
export function sendEmpty(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-length": 0 });
  response.end();
}

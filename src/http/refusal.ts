import type { ServerResponse } from "node:http";
import { sendJson } from "./send.ts";

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

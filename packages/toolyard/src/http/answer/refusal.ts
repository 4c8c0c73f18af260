import type { HttpAnswer } from "./answer.ts";
import { JSON_CONTENT } from "./send.ts";

/** Error that HTTP itself answers. The code that detects the problem throws it, and the listener writes the answer. */
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

/** Returns the body of a refusal in the form that MCP clients expect on every path. */
export function refusalBody(message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null });
}

/** Sends a refusal. `body`: JSON text to send instead of MCP's. If an answer has started, its connection is closed. */
export function sendRefusal(answer: HttpAnswer, refusal: Refusal, body = refusalBody(refusal.message)): void {
  if (answer.isOpen) answer.send(refusal.status, [...Object.entries(refusal.headers).flat(), ...JSON_CONTENT], body);
  else answer.cut();
}

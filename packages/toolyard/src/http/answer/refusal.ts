import type { HttpAnswer } from "./answer.ts";
import { JSON_CONTENT } from "./send.ts";

/** A request that HTTP itself answers: thrown by the code that finds the fault, written by the listener. */
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

/** Returns the body of a refusal, in the form that MCP clients expect on every path. */
export function refusalBody(message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null });
}

/** `body` is the JSON text to send instead of MCP's. A started answer is cut off. */
export function sendRefusal(answer: HttpAnswer, refusal: Refusal, body = refusalBody(refusal.message)): void {
  if (answer.isOpen) answer.send(refusal.status, [...Object.entries(refusal.headers).flat(), ...JSON_CONTENT], body);
  else answer.cut();
}

/**
 * A thread of the hub that compiles untrusted schemas and validates values, in sequence. The main thread ends it if a
 * job takes too long.
 */
import { parseExact } from "../../core/json/exact-json.ts";
import { parentPort } from "node:worker_threads";
import { isJsonObject } from "../../core/json/json.ts";
import { compileSchema, type CompiledSchema } from "../compile.ts";
import { loadEngine } from "../engine.ts";
import { sizeOfValue } from "../value-size.ts";
import { MAX_SENT_CHARS, MAX_SENT_ITEMS, QUICK_MS } from "./bounds.ts";
import type { ThreadCheckResult, CheckMessage, ThreadMessage, Verdict } from "./messages.ts";

const port = parentPort!;
const known = new Map<string, CompiledSchema>();

function send(message: ThreadMessage): void {
  port.postMessage(message);
}

function compile({ key, text = "{}", fillsDefaults }: CheckMessage): CompiledSchema {
  const startedAt = performance.now();
  const schema: unknown = parseExact(text);
  const compiled = compileSchema(isJsonObject(schema) ? schema : {}, {
    fillDefaults: fillsDefaults,
    explainsFirst: true,
  });
  known.set(key, compiled);
  send({ type: "verdict", verdict: verdictOn(compiled, performance.now() - startedAt) });
  return compiled;
}

function verdictOn({ usable, reason = "it is broken", warnings }: CompiledSchema, tookMs: number): Verdict {
  return usable ? { usable, warnings, isSlow: tookMs > QUICK_MS } : { usable, reason };
}

function check(compiled: CompiledSchema, value: unknown): ThreadCheckResult {
  const result = compiled.check(value);
  if (!result.ok || result.value === value) return result.ok ? { ok: true } : result;
  const { items, chars } = sizeOfValue(result.value, MAX_SENT_ITEMS);
  return items > MAX_SENT_ITEMS || chars > MAX_SENT_CHARS ? { ok: "too large" } : result;
}

port.on("message", (message: CheckMessage) => {
  const compiled = known.get(message.key) ?? compile(message);
  const startedAt = performance.now();
  const checked = check(compiled, message.value);
  send({ type: "checked", checked, tookMs: performance.now() - startedAt });
});

loadEngine();
send({ type: "ready" });

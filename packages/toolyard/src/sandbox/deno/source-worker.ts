/**
 * A thread of the hub that parses code without running it: it strips types and finds statements, which may take long
 * for hostile text.
 */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/errors.ts";
import type { SandboxJob } from "../engine.ts";
import { prepareSource } from "../javascript/source.ts";
import { SourceError } from "../javascript/source-error.ts";
import { tokensOf } from "../javascript/tokens.ts";
import { splitLast, type SplitResult, type Token } from "./split-source.ts";

const { sucrase } = workerData as { readonly sucrase: string };

function prepare(job: SandboxJob): SplitResult {
  try {
    const source = prepareSource(job, sucrase);
    return { ...source, ...splitLast(source.code, tokensFor(source.code)) };
  } catch (error) {
    return { problem: messageOf(error), line: error instanceof SourceError ? error.line : 1 };
  }
}

/**
 * Returns the tokens. Returns none if the parser fails, because the interpreter then reports the error with a better
 * message.
 */
function tokensFor(code: string): Token[] {
  if (!/\bawait\b/u.test(code)) return [];
  try {
    return tokensOf(code, sucrase);
  } catch {
    return [];
  }
}

parentPort!.on("message", ({ id, job }: { readonly id: number; readonly job: SandboxJob }) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage({ id, prepared: prepare(job) }),
);

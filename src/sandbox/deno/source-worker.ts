/**
 * A thread of the hub that reads code, and runs none: types are stripped and statements found, which a hostile text
 * could make long.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/errors.ts";
import type { SandboxJob } from "../engine.ts";
import { prepareSource } from "../javascript/source.ts";
import { SourceError } from "../javascript/source-error.ts";
import { splitLast, type Prepared, type Token } from "./split-source.ts";

interface Parser {
  // oxlint-disable-next-line max-params -- The parser's own signature.
  readonly parse: (
    source: string,
    jsx: boolean,
    typescript: boolean,
    flow: boolean,
  ) => { readonly tokens: readonly { readonly type: number; readonly start: number; readonly end: number }[] };
}
interface Types {
  readonly formatTokenType: (type: number) => string;
}

const { sucrase } = workerData as { readonly sucrase: string };

function prepare(job: SandboxJob): Prepared {
  try {
    const source = prepareSource(job, sucrase);
    return { ...source, ...splitLast(source.code, tokensOf(source.code)) };
  } catch (error) {
    return { problem: messageOf(error), line: error instanceof SourceError ? error.line : 1 };
  }
}

/** None where the parser gives up: the interpreter says better what is wrong. */
function tokensOf(code: string): Token[] {
  if (!/\bawait\b/u.test(code)) return [];
  const load = createRequire(import.meta.url);
  const { parse } = load(join(dirname(sucrase), "parser", "index.js")) as Parser;
  const { formatTokenType } = load(join(dirname(sucrase), "parser", "tokenizer", "types.js")) as Types;
  try {
    return parse(code, false, false, false).tokens.map(({ type, start, end }) => ({
      label: formatTokenType(type),
      start,
      end,
    }));
  } catch {
    return [];
  }
}

parentPort!.on("message", ({ id, job }: { readonly id: number; readonly job: SandboxJob }) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage({ id, prepared: prepare(job) }),
);

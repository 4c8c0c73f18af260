import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../../core/calls/outcome.ts";
import type { FailKind } from "../../../core/calls/kinds.ts";
import type { SandboxEnd, SandboxFile, SandboxToolCall } from "../../../sandbox/engine.ts";
import type { SandboxRun } from "../../../sandbox/sandbox.ts";

/** Maximum size of a file whose text is part of the answer. Larger and binary files are attached. */
const MAX_INLINE_BYTES = 16 * 1024;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  xml: "application/xml",
};

/** Failure codes of runs that ended for a reason other than the code itself. */
const KIND_OF_END: Readonly<Partial<Record<SandboxEnd, FailKind>>> = {
  cancelled: "cancelled",
  busy: "limited",
  unavailable: "unavailable",
};

/**
 * Returns `{ok, result, stdout, stderr, error, tool_calls, artifacts, truncated, duration_ms, engine, isolation,
 * session?}`. If the code failed, the tool's failure contains all of this data, so that a model can read the traceback
 * and fix the code. Code that exceeded its time is a timeout (C20).
 */
export function codeOutcome(run: SandboxRun): Outcome {
  const { end, error } = run;
  const kind = KIND_OF_END[end];
  if (kind) return fail(kind, error?.message ?? "The code was not run.", { retryable: end === "busy" });
  const value = answerOf(run);
  const content = [{ type: "text", text: stringifyExact(value) }, ...run.artifacts.flatMap(attachment)];
  if (end === "finished") return ok({ content, structuredContent: value });
  const message = error === undefined ? "The code failed." : `${error.type}: ${error.message}`;
  const result = { content, structuredContent: value, isError: true };
  // A timeout is not retryable, because the same code would take as long again.
  if (end === "timeout")
    return { ...fail("timeout", message, { details: { end }, result, retryable: false }), attempts: 1 };
  return fail("tool_error", message, { details: { end }, result });
}

/** Returns the result of a run as data. */
export function answerOf(run: SandboxRun): JsonObject {
  return {
    ok: run.end === "finished",
    result: run.resultJson === undefined ? null : (parseExact(run.resultJson) as unknown),
    stdout: run.stdout,
    stderr: run.stderr,
    error: run.error ? { type: run.error.type, message: run.error.message, traceback: run.error.traceback } : null,
    tool_calls: callFigures(run.toolCalls),
    artifacts: run.artifacts.map(described),
    truncated: run.truncated,
    duration_ms: Math.round(run.durationMs),
    engine: run.engine,
    isolation: run.isolation,
    ...(run.session !== undefined && { session: run.session }),
    ...(run.sessionEnded && { session_ended: true }),
  };
}

/**
 * Summarizes calls: their number, failures with reasons, and durations. Failures of one tool with the same error code
 * are one row, with the message of the first failure.
 */
function callFigures(calls: readonly SandboxToolCall[]): JsonObject {
  const failed = calls.filter(({ ok: isOk }) => !isOk);
  const rows = new Map<string, { name: string; kind: string; message: string; count: number }>();
  for (const { name, failure = CUT_OFF } of failed) {
    const row = rows.get(`${name}\n${failure.kind}`);
    if (row) row.count += 1;
    else if (rows.size < MAX_FAILURE_ROWS) rows.set(`${name}\n${failure.kind}`, { name, ...failure, count: 1 });
  }
  const slowest = calls.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST_CALLS);
  return {
    made: calls.length,
    failed: failed.length,
    failures: [...rows.values()],
    slowest: slowest.map(({ name, ms }) => ({ name, ms: Math.round(ms) })),
  };
}

const SLOWEST_CALLS = 3;
const MAX_FAILURE_ROWS = 20;
const CUT_OFF = { kind: "cancelled", message: "It had no answer yet when the run ended." };

function described(file: SandboxFile): JsonObject {
  const text = file.bytes.byteLength <= MAX_INLINE_BYTES ? textOf(file) : undefined;
  return {
    path: file.path,
    size: file.bytes.byteLength,
    mime_type: mediaType(file),
    ...(text !== undefined && { text }),
  };
}

/** Returns a file as a separate content block: an image as image content, any other file as an embedded resource. */
function attachment(file: SandboxFile): JsonObject[] {
  const mimeType = mediaType(file);
  const data = (): string => Buffer.from(file.bytes).toString("base64");
  if (/^image\/(?:png|jpeg|gif)$/.test(mimeType)) return [{ type: "image", data: data(), mimeType }];
  const text = textOf(file);
  if (text !== undefined && file.bytes.byteLength <= MAX_INLINE_BYTES) return [];
  const uri = `artifact:///${file.path.split("/").map(encodeURIComponent).join("/")}`;
  return [{ type: "resource", resource: { uri, mimeType, ...(text === undefined ? { blob: data() } : { text }) } }];
}

function mediaType({ path, bytes }: SandboxFile): string {
  const suffix = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(MEDIA_TYPES, suffix)) return MEDIA_TYPES[suffix]!;
  return textOf({ path, bytes }) === undefined ? "application/octet-stream" : "text/plain";
}

function textOf({ bytes }: SandboxFile): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

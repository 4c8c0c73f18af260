import type { Notice } from "../core/call.ts";
import { parseDuration } from "../core/duration.ts";
import type { JsonObject } from "../core/json.ts";
import type { Outcome } from "../core/outcome.ts";
import type { ProviderKind } from "../core/records.ts";
import type { CallOptions, Toolyard } from "../hub/toolyard.ts";
import { EXIT, reportFail, UsageError } from "./failure.ts";
import { print, printJson, type Io } from "./io.ts";
import type { SharedOptions } from "./program.ts";
import { withHub } from "./session.ts";

export interface OneCallOptions extends SharedOptions {
  readonly timeout?: string;
}

const ON_THIS_MACHINE = new Set<ProviderKind>(["builtin", "modules", "scripts", "folders"]);

/**
 * Makes one call and starts only what it needs: first with the sources that need no connection, then, when they do not know the name,
 * with the others, which connect when the last known lists do not already tell who is meant.
 */
export async function oneCall(options: OneCallOptions, io: Io, work: (hub: Toolyard, call: CallOptions) => Promise<Outcome>): Promise<Outcome> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const call = callOptions(options, io, interrupt.signal);
    if (options.url === undefined) {
      const local = await withHub({ ...options, only: ({ kind }) => ON_THIS_MACHINE.has(kind) }, io, (hub) => work(hub, call));
      if (local.ok || local.kind !== "unknown_tool") return local;
    }
    return await withHub({ ...options, lazy: true }, io, (hub) => work(hub, call));
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

function callOptions(options: OneCallOptions, io: Io, interrupted: AbortSignal): CallOptions {
  return {
    signal: interrupted,
    ...(options.timeout === undefined ? {} : { timeoutMs: readTimeout(options.timeout) }),
    onNotice: (notice) => void io.stderr.write(`${noticeLine(notice)}\n`),
    logLevel: options.verbose ? "debug" : "warning",
  };
}

function readTimeout(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new UsageError(`--timeout: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function noticeLine({ method, params }: Notice): string {
  if (method === "notifications/progress") {
    const total = params["total"] === undefined ? "" : ` of ${String(params["total"])}`;
    return `progress: ${String(params["progress"])}${total}${params["message"] === undefined ? "" : ` ${String(params["message"])}`}`;
  }
  const data = params["data"];
  return `${String(params["level"] ?? "log")}: ${typeof data === "string" ? data : JSON.stringify(data)}`;
}

/** Prints a call's result, or why there is none, and gives the exit code of the table. */
export async function reportOutcome(outcome: Outcome, json: boolean, io: Io, text: (result: JsonObject) => string): Promise<number> {
  if (!outcome.ok) return reportFail(outcome, json, io);
  if (json) await printJson(io.stdout, outcome.result);
  else await print(io.stdout, text(outcome.result));
  return EXIT.ok;
}

import { parseDuration } from "../../core/text/duration.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { CallOptions, Toolyard } from "../../kernel/toolyard.ts";
import { isOnThisMachine, missingModules } from "../../hub/sources/local-sources.ts";
import { SERVER_NAME } from "../../hub/server-facts.ts";
import type { Hub } from "../../hub/open-hub.ts";
import { settled } from "../../hub/sources/settled.ts";
import { EXIT, reportFail, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import { CallView } from "../live/call-view.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { META } from "../../wire/modern/envelope.ts";
import { withHub } from "./session.ts";
import { startedHere, whatIsMissing } from "./still-starting.ts";

export interface OneCallOptions extends SharedOptions {
  readonly timeout?: string;
  /** Name to show during the call. */
  readonly shown?: string;
}

/**
 * Time that sources have to start. It is longer than the connection timeout, so that a slow server's result is used.
 */
const STARTED_WITHIN_MS = 35_000;

/**
 * Makes one call and starts only the necessary sources: first those without a connection. If these do not have the tool
 * and the cached lists do not identify its source, starts the others too.
 */
export async function oneCall(options: OneCallOptions, io: Io, work: CallAction): Promise<Outcome> {
  const view = new CallView(io, options.shown ?? "the call", options);
  try {
    return await callOnce(options, { io, view }, work);
  } finally {
    view.end();
  }
}

interface OneCallContext {
  readonly io: Io;
  readonly view: CallView;
}

async function callOnce(options: OneCallOptions, { io, view }: OneCallContext, work: CallAction): Promise<Outcome> {
  const call = callOptions(options, io, view);
  const run = (toolyard: Toolyard, hub: Hub): Promise<Outcome> => {
    view.watch(hub.port);
    return onceStarted(work, io, [toolyard, call, hub]);
  };
  // The result already states why a call failed, so the log shows errors only.
  const shared = { ...options, logLevel: "error" } as const;
  if (options.url === undefined) {
    const local = await withHub({ ...shared, only: ({ kind }) => isOnThisMachine(kind) }, io, run);
    if (local.ok || local.kind !== "unknown_tool") return local;
  }
  const outcome = await withHub({ ...shared, lazy: true }, io, run);
  return options.url === undefined || !outcome.ok ? outcome : { ...outcome, result: withoutEnvelope(outcome.result) };
}

/** Removes the envelope members that the remote hub added to a result. */
function withoutEnvelope({ _meta: meta, ...result }: JsonObject): JsonObject {
  const { [META.serverInfo]: server, ...rest } = isJsonObject(meta) ? meta : {};
  const isHubs = isJsonObject(server) && server["name"] === SERVER_NAME;
  const { resultType, ttlMs, cacheScope, ...plain } = result;
  const kept = {
    ...plain,
    ...(resultType !== undefined && resultType !== "complete" && { resultType }),
    ...(ttlMs !== undefined && ttlMs !== 0 && { ttlMs, cacheScope }),
  };
  if (!isHubs) return meta === undefined ? kept : { ...kept, _meta: meta };
  return Object.keys(rest).length === 0 ? kept : { ...kept, _meta: rest };
}

/**
 * Makes the call. If it fails because sources are starting, waits for them and repeats it: a command that runs once
 * cannot try again later.
 */
async function onceStarted(work: CallAction, io: Io, given: Parameters<CallAction>): Promise<Outcome> {
  const [, { timeoutMs }, hub] = given;
  const outcome = await work(...given);
  const isTooEarly = !outcome.ok && outcome.kind === "unavailable" && outcome.details?.["starting"] !== undefined;
  if (!isTooEarly) return namingMissing(outcome, hub);
  await startedHere(hub, io);
  await settled(hub, STARTED_WITHIN_MS, { installs: timeoutMs === undefined });
  return namingMissing(await work(...given), hub);
}

/** Adds a note about modules that failed to import, because an unknown name can belong to one of them. */
function namingMissing(outcome: Outcome, hub: Hub): Outcome {
  const missing = whatIsMissing(missingModules(hub));
  if (outcome.ok || outcome.kind !== "unknown_tool" || missing === undefined) return outcome;
  return { ...outcome, message: `${outcome.message} ${missing}` };
}

type CallAction = (toolyard: Toolyard, call: CallOptions, hub: Hub) => Promise<Outcome>;

function callOptions(options: OneCallOptions, io: Io, view: CallView): CallOptions {
  const { timeout, json, verbose } = options;
  return {
    signal: io.interrupted,
    ...(timeout === undefined ? {} : { timeoutMs: readTimeout(timeout) }),
    // With --json, standard error contains only the error object.
    ...(json && !verbose
      ? {}
      : {
          onNotice: (notification) => view.notification(notification),
          logLevel: verbose ? "debug" : "warning",
        }),
    onAsk: ({ method }) =>
      Promise.reject(
        new FailError(
          fail(
            "tool_error",
            `The tool asks a question (${method}), which the command line cannot answer. ` +
              "Call it from a client that can.",
          ),
        ),
      ),
  };
}

/** Parses `30s`, `5m` or `250ms`. A number without a unit is ambiguous, so it is refused. */
export function readTimeout(text: string): number {
  if (/^\s*[\d.]+\s*$/.test(text))
    throw new UsageError(`--timeout needs a unit, such as ${text.trim()}s or ${text.trim()}ms, got "${text}".`);
  try {
    return parseDuration(text);
  } catch {
    throw new UsageError(`--timeout must be a duration such as 30s, 5m or 250ms, got "${text}".`);
  }
}

/** Prints a call's result or error, and returns the exit code of the table. */
export async function reportOutcome(
  outcome: Outcome,
  { json, io }: { readonly json: boolean; readonly io: Io },
  text: (result: JsonObject) => string,
): Promise<number> {
  if (!outcome.ok) return reportFail(outcome, json, io);
  if (json) await printJson(io.stdout, outcome.result);
  else await print(io.stdout, text(outcome.result));
  return EXIT.ok;
}

import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../../core/json/json.ts";
import { OptionError } from "../../core/errors.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { CALLS_PATH } from "../../endpoints/paths.ts";
import { EXIT, reportFail, UsageError } from "../failure.ts";
import { readReport, type HubReport } from "../hub-access/hub-report.ts";
import { isLive } from "../live/live.ts";
import { Screen } from "../live/screen.ts";
import { printJson, printPainted, type Io } from "../output/io.ts";
import { sizeOf } from "../output/terminal.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { callsBetween, readSample, type CallSample } from "../top/call-rows.ts";
import { createReport } from "../top/top-report.ts";
import { topText } from "../top/top-text.ts";

interface Options extends SharedOptions {
  readonly once?: boolean;
  readonly limit: string;
  readonly interval: string;
}

const CALLS: HubReport = { path: CALLS_PATH, command: "calls", title: "counts of calls", usage: "toolyard top" };
const MAX_LIMIT = 100;
const MIN_INTERVAL_MS = 500;
const MAX_INTERVAL_MS = 60_000;
/** Time window of the calls in the live output. */
const WINDOW_MS = 60_000;
/** Number of lines of one table besides its rows: an empty line, heading, columns and rule. */
const LINES_AROUND = 4;
const TABLES = 4;

/** Prints the busiest, slowest and failing tools and sources of a running hub. */
export const run: CommandAction<Options> = async (_args, options, io) => {
  const limit = readLimit(options.limit);
  const intervalMs = readInterval(options.interval);
  const isOnce = options.once === true || !isLive(io) || io.stdout.isTTY !== true;
  if (options.json && !options.once)
    throw new UsageError("--json prints one document, and `toolyard top` has no end. Add --once.");
  return isOnce ? showOnce(limit, options, io) : showLive({ limit, intervalMs }, options, io);
};

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new OptionError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, got "${text}".`);
}

function readInterval(text: string): number {
  const intervalMs = parseDuration(text, "--interval");
  if (intervalMs >= MIN_INTERVAL_MS && intervalMs <= MAX_INTERVAL_MS) return intervalMs;
  throw new OptionError(`--interval must be from 500ms to 1m, got "${text}".`);
}

async function showOnce(limit: number, options: Options, io: Io): Promise<number> {
  const answer = await readReport(CALLS, options, io);
  if ("failure" in answer) return reportFail(answer.failure, options.json === true, io);
  const sample = readSample(answer.body);
  const report = createReport(sample, limit);
  if (options.json) await printJson(io.stdout, { ...factsOf(answer.body), ...report });
  else await printPainted(io.stdout, topText(report, titleOf(answer), io));
  return EXIT.ok;
}

function factsOf({ version, startedAt, uptimeMs, shared }: JsonObject): JsonObject {
  return { version, startedAt, uptimeMs, ...(shared !== undefined && { shared }) };
}

function titleOf({ body, at }: { readonly body: JsonObject; readonly at: string }): string {
  return `toolyard ${String(body["version"])}, up ${Math.round(Number(body["uptimeMs"]) / 1000)} s, ${at}`;
}

interface LiveSettings {
  readonly limit: number;
  readonly intervalMs: number;
}

/** Redraws until Ctrl+C. Waits for a hub that restarts. Fails if the hub has never answered. */
async function showLive({ limit, intervalMs }: LiveSettings, options: Options, io: Io): Promise<number> {
  const samples: CallSample[] = [];
  let lines: readonly string[] = [];
  let screen: Screen | undefined;
  try {
    for (;;) {
      const answer = await readReport(CALLS, options, io);
      if (io.interrupted.aborted) break;
      if ("failure" in answer && samples.length === 0) return await reportFail(answer.failure, false, io);
      lines = "failure" in answer ? [answer.failure.message] : windowLines(answer, { samples, limit, io });
      screen ??= new Screen(io, () => lines);
      screen.draw();
      await pause(intervalMs, undefined, { signal: io.interrupted });
    }
  } catch (error) {
    if (!io.interrupted.aborted) throw error;
  } finally {
    screen?.end();
  }
  return EXIT.ok;
}

interface WindowPlace {
  /** Samples within the window, oldest first. Each reading of the hub adds a sample and removes old ones. */
  readonly samples: CallSample[];
  readonly limit: number;
  readonly io: Io;
}

function windowLines(
  answer: { readonly body: JsonObject; readonly at: string },
  { samples, limit, io }: WindowPlace,
): readonly string[] {
  const sample = readSample(answer.body);
  if (samples[0]?.startedAt !== sample.startedAt) samples.length = 0;
  samples.push(sample);
  while (samples.length > 2 && sample.uptimeMs - samples[1]!.uptimeMs >= WINDOW_MS) samples.shift();
  // The first sample has no predecessor, so it shows all calls since the start of the hub.
  const calls = callsBetween(samples.length > 1 ? samples[0] : undefined, sample);
  const { columns, rows } = sizeOf(io.stderr);
  const fitting = Math.max(1, Math.floor((rows - 3) / TABLES) - LINES_AROUND);
  const text = topText(createReport(calls, Math.min(limit, fitting)), titleOf(answer), { ...io, width: columns - 1 });
  return text.split("\n").slice(0, rows - 1);
}

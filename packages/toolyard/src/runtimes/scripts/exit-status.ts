import { constants } from "node:os";
import { formatBytes } from "../../core/text/bytes.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Exit } from "../../process/child.ts";
import type { RunSettings } from "./run-settings.ts";

/**
 * Returns the exit of the tool itself. Bubblewrap, like a shell, reports a signal as a code above 128, so such a code
 * is converted.
 */
export function exitOfTool(exit: Exit, { isolation }: RunSettings): Exit {
  if (isolation.mode !== "bwrap" || exit.code === null || exit.code <= 128) return exit;
  const number = exit.code - 128;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return signal === undefined ? exit : { code: null, signal: signal as NodeJS.Signals };
}

/** Returns the outcome of an exit caused by a system limit; `undefined` for other exits. */
export function limitOutcome({ signal }: Exit, { limits }: RunSettings): Outcome | undefined {
  if (signal === "SIGXCPU" && limits.cpuMs !== undefined) return cpuFailure(limits.cpuMs);
  if (signal !== "SIGXFSZ" || limits.fileBytes === undefined) return undefined;
  return fail(
    "too_large",
    `The tool wrote a file of more than ${formatBytes(limits.fileBytes)} and was ended. ` +
      "Ask it for less, or raise `limits.file_size`.",
    {
      details: { maxBytes: limits.fileBytes },
    },
  );
}

export function cpuFailure(cpuMs: number): ReturnType<typeof fail> {
  return fail(
    "timeout",
    `The tool computed for more than ${formatDuration(cpuMs)} and was ended. Ask it for less, or raise \`limits.cpu\`.`,
    { details: { cpuMs } },
  );
}

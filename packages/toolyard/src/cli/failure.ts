import { ConfigError, FailError, OptionError, messageOf } from "../core/errors.ts";
import { KINDS, type FailKind } from "../core/calls/kinds.ts";
import { fail, type Fail } from "../core/calls/outcome.ts";
import { writeAdvice } from "../core/text/write-advice.ts";
import { colorsOf } from "./output/colors.ts";
import { print, printPainted, printJson, type Io } from "./output/io.ts";
import { safeToShow } from "../core/text/hidden-text.ts";

/** Exit codes that do not depend on the outcome of a call. */
export const EXIT = { ok: 0, usage: 2, internal: KINDS.internal.exit } as const;

/** A command line that cannot be executed as written. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs `work` on a file named on the command line. System errors become usage errors. */
export async function onFile<T>(
  path: string,
  work: () => Promise<T>,
  advice = "Name another with --output.",
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (typeof code !== "string" || !/^E[A-Z]+$/.test(code)) throw error;
    throw new UsageError(`${path} cannot be written (${code}). ${writeAdvice(code, advice)}`, { cause: error });
  }
}

/** Prints the failure on standard error, and returns the exit code of its kind. */
export async function reportFail(failure: Fail, json: boolean, io: Io): Promise<number> {
  const { kind, message, details, retryable, result } = failure;
  if (json)
    await printJson(io.stderr, {
      error: { kind, message, retryable, ...(details ? { details } : {}), ...(result ? { result } : {}) },
    });
  else await printPainted(io.stderr, `${colorsOf(io).red(kind)}: ${safeToShow(message)}`);
  return KINDS[kind].exit;
}

/** Prints the error on standard error, and returns the exit code. */
export async function reportError(error: unknown, json: boolean, io: Io): Promise<number> {
  if (error instanceof FailError) return reportFail(error.failure, json, io);
  if (io.interrupted.aborted) return reportFail(fail("cancelled", "Interrupted."), json, io);
  if (error instanceof ConfigError) return reportUsage(json ? messageOf(error) : configText(error), json, io);
  if (error instanceof OptionError || error instanceof UsageError) return reportUsage(messageOf(error), json, io);
  if (json) await printJson(io.stderr, errorObject("internal", messageOf(error)));
  else await print(io.stderr, internalText(error, io));
  return EXIT.internal;
}

/** Returns the text of a configuration error. Problems found by the schema check contain no advice. */
function configText({ problems }: ConfigError): string {
  const isChecked = problems.some((problem) => !isSentence(problem));
  const lines = problems.map((problem) => (isSentence(problem) ? problem : `${problem}.`));
  return [...lines, ...(isChecked ? [CONFIG_ADVICE] : [])].join("\n");
}

const CONFIG_ADVICE = "Correct it, then run `toolyard check`. `toolyard config --schema` lists all options.";

function isSentence(text: string): boolean {
  return /[.?!]$/.test(text);
}

/** Prints a problem of the command line or the configuration, and returns the exit code. */
export async function reportUsage(message: string, json: boolean, io: Io): Promise<number> {
  if (json) await printJson(io.stderr, errorObject("invalid_params", message));
  else await print(io.stderr, message);
  return EXIT.usage;
}

function errorObject(kind: FailKind, message: string): object {
  return { error: { kind, message, retryable: false } };
}

function internalText(error: unknown, io: Io): string {
  const stack = io.env["TOOLYARD_DEBUG"] && error instanceof Error ? `\n${error.stack}` : "";
  return `internal: ${messageOf(error)}\nThis is a fault of toolyard; TOOLYARD_DEBUG=1 shows where.${stack}`;
}

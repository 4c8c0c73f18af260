import { ConfigError, FailError, OptionError, messageOf } from "../core/errors.ts";
import { KINDS, type FailKind } from "../core/kinds.ts";
import type { Fail } from "../core/outcome.ts";
import { print, printJson, type Io } from "./io.ts";

/** Exit codes that belong to no outcome. */
export const EXIT = { ok: 0, usage: 2, internal: KINDS.internal.exit } as const;

/** A command line that cannot be carried out as it stands. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Says on standard error why an outcome is none, and gives the exit code of its kind. */
export async function reportFail(failure: Fail, json: boolean, io: Io): Promise<number> {
  const { kind, message, details, retryable } = failure;
  if (json) await printJson(io.stderr, { error: { kind, message, retryable, ...(details ? { details } : {}) } });
  else await print(io.stderr, `${kind}: ${message}`);
  return KINDS[kind].exit;
}

/** Says on standard error what was thrown, and gives the exit code. */
export async function reportError(error: unknown, json: boolean, io: Io): Promise<number> {
  if (error instanceof FailError) return reportFail(error.failure, json, io);
  const isExpected = error instanceof ConfigError || error instanceof OptionError || error instanceof UsageError;
  const kind: FailKind = isExpected ? "invalid_params" : "internal";
  if (json) await printJson(io.stderr, { error: { kind, message: messageOf(error) } });
  else await print(io.stderr, isExpected ? messageOf(error) : internalText(error, io));
  return isExpected ? EXIT.usage : EXIT.internal;
}

function internalText(error: unknown, io: Io): string {
  const stack = io.env["TOOLYARD_DEBUG"] && error instanceof Error ? `\n${error.stack}` : "";
  return `internal: ${messageOf(error)} This is a fault of toolyard; TOOLYARD_DEBUG=1 shows where.${stack}`;
}

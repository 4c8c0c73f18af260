import type { Fail } from "./calls/outcome.ts";

/** A setting that cannot be used. The message names the option, what was received and what is accepted. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

/** A configuration that cannot be used: one or more problems, each with the place it was found at. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.problems = problems;
  }
}

/**
 * Carries a failure through code that cannot return one (a handler's promise, an abort reason). Whoever turns a call
 * into an outcome catches it and returns `failure` as the outcome.
 */
export class FailError extends Error {
  override readonly name = "FailError";
  readonly failure: Fail;

  constructor(failure: Fail) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.failure = failure;
  }
}

/** The code of what the system or Node threw, such as `ENOENT`; nothing where it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

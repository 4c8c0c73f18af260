import type { Fail } from "./calls/outcome.ts";

/** Error: a setting is invalid. The message names the option, the value received and the accepted values. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

/** Error: a configuration is invalid. Contains one or more problems, each with its place in the file. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.problems = problems;
  }
}

/**
 * Carries a failure through code that cannot return one (a handler's promise, an abort reason). The code that turns a
 * call into an outcome catches it and returns `failure`.
 *
 * @example
 * ```ts
 * import { FailError, MCPClient } from "toolyard/client";
 *
 * const client = new MCPClient("server.mjs");
 * await client.start();
 * try {
 *   await client.callTool("search", {});
 * } catch (error) {
 *   if (error instanceof FailError) console.log(error.failure.kind, error.message);
 * } finally {
 *   await client.stop();
 * }
 * ```
 */
export class FailError extends Error {
  override readonly name = "FailError";
  readonly failure: Fail;

  constructor(failure: Fail) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.failure = failure;
  }
}

/** Returns the code of a system or Node error, such as `ENOENT`; `undefined` if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the message for an internal error of the hub. It names the log entry instead of the cause. */
export function internalFailureText(id: string): string {
  return `The hub failed to handle the request. Its log has the details under the id ${id}.`;
}

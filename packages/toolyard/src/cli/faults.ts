import { fileURLToPath } from "node:url";
import { messageOf } from "../core/errors.ts";
import type { Logger } from "../core/ports/ports.ts";
import { EXIT } from "./failure.ts";

const OWN_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/**
 * Keeps the hub running if a module ignores a rejected promise or throws in a timer, and logs the error with its stack.
 * After an error in Toolyard's own code outside a call, the state is undefined, so the process ends and a supervisor
 * restarts it. Returns a function that stops the watch.
 */
export function watchFaults(logger: Logger): () => void {
  const onRejection = (reason: unknown): void =>
    logger.error("A promise was rejected and not awaited.", factsOf(reason));
  const onException = (error: unknown): void => {
    logger.error("An error was thrown outside any call.", factsOf(error));
    if (isOwn(error)) process.exit(EXIT.internal);
  };
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  return () => {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
  };
}

function factsOf(error: unknown): { error: string; stack?: string } {
  const stack = error instanceof Error ? error.stack : undefined;
  return { error: messageOf(error), ...(stack === undefined ? {} : { stack }) };
}

/** Returns whether the innermost stack frame outside Node belongs to Toolyard. */
function isOwn(error: unknown): boolean {
  const frames =
    error instanceof Error
      ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("node:"))
      : [];
  return frames[0] !== undefined && frames[0].includes(OWN_FOLDER);
}

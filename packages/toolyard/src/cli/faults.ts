import { fileURLToPath } from "node:url";
import { messageOf } from "../core/errors.ts";
import type { Logger } from "../core/ports/ports.ts";
import { EXIT } from "./failure.ts";

const OWN_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/**
 * Keeps a promise that a module forgot, or an error in one of its timers, from ending everybody's hub: it is logged
 * with its stack. An error that our own code throws outside any call leaves a state that nobody knows, so the program
 * ends, and whoever runs it starts it anew. Gives what ends the watch.
 */
export function watchFaults(logger: Logger): () => void {
  const onRejection = (reason: unknown): void =>
    logger.error("A promise was rejected and nobody waited for it.", factsOf(reason));
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

/** Whether the innermost frame outside Node itself is ours. */
function isOwn(error: unknown): boolean {
  const frames =
    error instanceof Error
      ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("node:"))
      : [];
  return frames[0] !== undefined && frames[0].includes(OWN_FOLDER);
}

import { FailError } from "../../core/errors.ts";
import type { Tasks, WantedTasks } from "../../core/ports/tasks.ts";
import { RPC } from "../../wire/messages.ts";
import { errorAnswer, type McpAnswer } from "./answers.ts";

/** Reads the wanted tasks before they are used. Returns an error if the store of several hubs cannot be reached. */
export async function readTasks(tasks: Tasks, wanted: WantedTasks): Promise<McpAnswer | undefined> {
  try {
    await tasks.ready(wanted);
    return undefined;
  } catch (error) {
    if (error instanceof FailError) return errorAnswer(RPC.internal, error.failure.message);
    throw error;
  }
}

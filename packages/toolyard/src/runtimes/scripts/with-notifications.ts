import type { Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import { ScriptNotifications } from "./script-notifications.ts";
import { hidePaths } from "./hide-paths.ts";
import type { ScriptHost } from "./script-host.ts";

/** What runs as a child: its name, and the folders that callers must not read of. */
interface Runnable {
  readonly name: string;
  readonly folder: string;
  readonly root: string;
}

/** Runs a tool with somebody who hears what it says on the side. An expected failure is the outcome. */
export async function withNotifications(
  tool: Runnable,
  { call, host: { logger } }: { readonly call: Call; readonly host: ScriptHost },
  run: (notifications: ScriptNotifications) => Promise<Outcome>,
): Promise<Outcome> {
  const notifications = new ScriptNotifications(call, {
    tool: tool.name,
    logger,
    clean: (text) => hidePaths(text, [tool.folder, tool.root]),
  });
  try {
    return await run(notifications);
  } catch (error) {
    if (error instanceof FailError) return error.failure;
    throw error;
  } finally {
    notifications.finish();
  }
}

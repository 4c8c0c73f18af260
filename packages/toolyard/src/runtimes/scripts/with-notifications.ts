import type { Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import { ScriptNotifications } from "./script-notifications.ts";
import { hidePaths } from "./hide-paths.ts";
import { removedTool, type ToolFiles } from "./removed-tool.ts";
import type { ScriptHost } from "./script-host.ts";

/** A tool that runs as a child process. The paths of `folder` and `root` are hidden from callers. */
interface Runnable extends ToolFiles {
  readonly root: string;
}

/** Runs a tool and passes on its notifications. Converts an expected failure to an outcome. */
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
    const outcome = await run(notifications);
    return outcome.ok ? outcome : (removedTool(tool, outcome) ?? outcome);
  } catch (error) {
    const removed = removedTool(tool, error);
    if (removed) return removed;
    if (error instanceof FailError) return error.failure;
    throw error;
  } finally {
    notifications.finish();
  }
}

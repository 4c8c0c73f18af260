import type { ConsoleOptions } from "../options.ts";
import type { ConsoleParts } from "../parts.ts";
import { CodeSignIn, MAX_PENDING } from "./code-sign-in.ts";
import { SealedRecords } from "./sealed-records.ts";
import { BrowserSessions, type Sessions } from "./sessions.ts";
import { SharedSessions } from "./shared-sessions.ts";

/** Opens the sessions and sign-ins of browsers: in memory, or in the store of several hubs. */
export function openSessions(
  { access, state: { queues } }: Pick<ConsoleParts, "access" | "state">,
  options: ConsoleOptions,
): { readonly sessions: Sessions; readonly codes: CodeSignIn } {
  const { client, sessionMs, maxSessions } = options;
  if (!queues) return { sessions: new BrowserSessions(options), codes: new CodeSignIn({ access, client }) };
  const shared = new SealedRecords({ queues, name: "sign-ins", max: MAX_PENDING });
  const codes = new CodeSignIn({ access, client, shared });
  const findFlow = async (name: string) => (await codes.flows()).find((flow) => flow.name === name);
  return { sessions: new SharedSessions({ queues, sessionMs, maxSessions, findFlow }), codes };
}

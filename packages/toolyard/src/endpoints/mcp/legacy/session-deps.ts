import type { ToolMode } from "../../../core/calls/call.ts";
import type { Tasks } from "../../../core/ports/tasks.ts";
import type { HubState } from "../../../state/ports/store.ts";
import type { MethodsDeps } from "../methods.ts";
import type { RemoteHubs } from "../remote-hubs.ts";
import { SessionBoard } from "./board.ts";
import { LegacyCodecs } from "./codec.ts";
import type { LegacySessionOptions } from "./options.ts";
import type { SessionDeps } from "./session.ts";

export interface SessionDepsParts extends MethodsDeps {
  readonly options: LegacySessionOptions;
  readonly defaultMode: ToolMode;
  /** State that this hub shares with other hubs. */
  readonly state: HubState;
  /** Tasks. Absent: no call becomes a task. */
  readonly tasks?: Tasks | undefined;
  /** The other hubs of the store. Absent: there are none. */
  readonly remote?: RemoteHubs | undefined;
}

/**
 * Creates the parts that the legacy sessions of one hub share on HTTP, HTTP+SSE and stdio. The caller closes `board`.
 */
export function createSessionDeps(parts: SessionDepsParts): SessionDeps {
  return { ...parts, board: new SessionBoard(parts.hub, parts.logger), codecs: new LegacyCodecs(parts.tasks) };
}

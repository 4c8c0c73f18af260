import type { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import type { Access } from "../../core/access.ts";
import type { Late } from "../../core/late.ts";
import type { Identity } from "../../core/calls/identity.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Audit } from "../../core/ports/audit.ts";
import type { Chat } from "../../core/ports/chat.ts";
import type { CallStatistics } from "../../core/ports/call-statistics.ts";
import type { HubControl } from "../../core/ports/hub-control.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import type { LogFeed } from "../../core/ports/log-feed.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Profiles } from "../../core/ports/profiles.ts";
import type { Schedules } from "../../core/ports/schedules.ts";
import type { SignInCoordinator } from "../../core/ports/sign-in-coordinator.ts";
import type { Tasks } from "../../core/ports/tasks.ts";
import type { MadeHub, ToolFinder } from "../../core/services.ts";
import type { RequestRelay } from "../../endpoints/request-relay.ts";
import type { HubState } from "../../state/ports/store.ts";
import type { ConsoleHubs } from "./hubs/console-hubs.ts";
import type { CallRecorder } from "./recorder/call-recorder.ts";

/** Services that live as long as the hub. */
export interface HubParts {
  readonly logger: Logger;
  readonly audit: Audit;
  /** Variables that determine the data folder. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logFeed: LogFeed;
  readonly callStatistics: CallStatistics;
  /** Returns a copy of a JSON value without secrets. */
  readonly redactFacts: (facts: JsonObject) => JsonObject;
  readonly getHub: () => MadeHub;
  readonly hubControl: () => HubControl;
}

/** Recording of the hub's last calls. Its code is loaded by the first call or by the console. */
export interface CallRecording {
  readonly recorder: Late<CallRecorder>;
  /** False until the console is served. Until then, no calls are recorded, which would cost time without use. */
  isInUse: boolean;
}

/** Services that the console gets when it is opened. */
export interface OpeningParts extends HubParts {
  /** Absent: the console was disabled when the hub started. */
  readonly recording: CallRecording | undefined;
}

/** The other hubs of a store. */
export interface OtherHubs {
  readonly list: ConsoleHubs;
  readonly relay: RequestRelay;
}

/** Services that work for callers: tasks, schedules, the agent, users. */
export interface WorkParts {
  readonly state: HubState;
  readonly profiles: Profiles;
  readonly tasks: Tasks;
  /** Returns the agent, or `undefined` if no model is configured. */
  readonly chat: () => Chat | undefined;
  readonly schedules: Pick<Schedules, "list" | "run" | "cancel">;
  /** Returns the hub's own authorization server, or `undefined` if the mode `builtin` is off. */
  readonly authServer: () => AuthServerHandle | undefined;
  /** Returns the names of the roles of an identity, or `undefined` if the identity needs a role and has none. */
  readonly roleNames: (identity: Identity) => readonly string[] | undefined;
}

/** Services that the console uses. */
export interface ConsoleParts extends HubParts, WorkParts {
  /** The last calls of the hub. Absent: the console was disabled when the hub started. */
  readonly recentCalls: CallRecorder | undefined;
  readonly startedAt: Date;
  readonly signIns: Pick<SignInCoordinator, "sources">;
  readonly hub: HubPort;
  readonly tools: ToolFinder;
  readonly access: Access;
  /** Absent if the hub shares no store with others. */
  readonly hubs?: OtherHubs | undefined;
}

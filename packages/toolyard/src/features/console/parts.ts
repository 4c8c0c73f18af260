import type { Access } from "../../core/access.ts";
import type { ToolMode } from "../../core/calls/call.ts";
import type { Chat } from "../../core/ports/chat.ts";
import type { HubControl } from "../../core/ports/hub-control.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import type { LogFeed } from "../../core/ports/log-feed.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Profiles } from "../../core/ports/profiles.ts";
import type { SignInCoordinator } from "../../core/ports/sign-in-coordinator.ts";
import type { MadeHub, ToolFinder } from "../../core/services.ts";
import type { CallRecorder } from "./recorder/call-recorder.ts";

/** Services that the console uses. */
export interface ConsoleParts {
  readonly hub: HubPort;
  readonly tools: ToolFinder;
  readonly access: Access;
  readonly defaultMode: ToolMode;
  readonly logger: Logger;
  readonly logFeed: LogFeed;
  readonly redact: (text: string) => string;
  readonly startedAt: Date;
  readonly signIns: Pick<SignInCoordinator, "sources">;
  readonly profiles: Profiles;
  readonly getHub: () => MadeHub;
  readonly hubControl: () => HubControl;
  readonly chat: () => Chat | undefined;
  readonly recentCalls: CallRecorder | undefined;
}

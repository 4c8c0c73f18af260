import type { Tracing } from "../../core/ports/tracing.ts";
import type { Access } from "../../core/access.ts";
import type { ToolMode } from "../../core/calls/call.ts";
import type { Chat } from "../../core/ports/chat.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Tasks } from "../../core/ports/tasks.ts";
import type { ToolFinder } from "../../core/services.ts";

/** Services that the REST endpoint needs. */
export interface RestParts {
  readonly hub: Pick<HubPort, "list" | "call" | "facts">;
  readonly tools: ToolFinder;
  readonly logger: Logger;
  /** Returns the agent, or `undefined` if no model is configured. */
  readonly chat: () => Chat | undefined;
  readonly tasks: Tasks;
  /** @default requests are not recorded */
  readonly tracing?: Tracing | undefined;
  readonly access: Pick<Access, "isGuarded" | "securitySchemes">;
  /** Tool mode of requests that name no tool mode. */
  readonly defaultMode: ToolMode;
}

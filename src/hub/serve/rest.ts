import type { ToolMode } from "../../core/call.ts";
import type { Chat } from "../../core/chat.ts";
import { toolModeOfRequest } from "../../doors/mcp/tool-mode.ts";
import { resolveRest, type RestOptions } from "../../doors/rest/options.ts";
import { RestDoor } from "../../doors/rest/rest-door.ts";
import type { Listener } from "../../http/listener.ts";
import type { Hub } from "../hub.ts";

/** What `[rest]` says now. Throws an `OptionError` when it cannot be served. */
export function restOf(hub: Hub): RestOptions {
  return resolveRest(hub.config.tree.rest);
}

/** Everything of the configuration that a changed door on HTTP has to be opened anew for. */
export function doorsOf(hub: Hub): string {
  const { server = {}, rest = {} } = hub.config.tree;
  return JSON.stringify([server, rest]);
}

export interface RestMount {
  readonly listener: Listener;
  readonly options: RestOptions;
  readonly defaultMode: ToolMode;
  readonly hasTokens: boolean;
  /** @default the hub's own agent, while a model is configured */
  readonly chat?: Chat;
}

export function mountRest(hub: Hub, { listener, options, chat, ...facts }: RestMount): RestDoor {
  const ownChat = (): Chat | undefined => (hub.chat.isConfigured ? hub.chat : undefined);
  const parts = {
    hub,
    logger: hub.logger,
    modeOf: toolModeOfRequest,
    chat: chat ? () => chat : ownChat,
    ...facts,
  };
  const door = new RestDoor(parts, options);
  door.mount(listener);
  return door;
}

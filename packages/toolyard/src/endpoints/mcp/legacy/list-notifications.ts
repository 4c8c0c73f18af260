import type { ListKind } from "../../../core/ports/hub-port.ts";

/** Notification about a changed list, and the capability that it requires. */
export const LIST_NOTIFICATIONS: Readonly<Record<ListKind, { capability: string; notification: string }>> = {
  tools: { capability: "tools", notification: notificationText("tools") },
  resources: { capability: "resources", notification: notificationText("resources") },
  templates: { capability: "resources", notification: notificationText("resources") },
  prompts: { capability: "prompts", notification: notificationText("prompts") },
};

function notificationText(list: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`;
}

import type { ListKind } from "../../../core/ports/hub-port.ts";

/** The notification that tells of a changed list, and the capability without which it is not sent. */
export const LIST_NOTICES: Readonly<Record<ListKind, { capability: string; notice: string }>> = {
  tools: { capability: "tools", notice: noticeText("tools") },
  resources: { capability: "resources", notice: noticeText("resources") },
  templates: { capability: "resources", notice: noticeText("resources") },
  prompts: { capability: "prompts", notice: noticeText("prompts") },
};

function noticeText(list: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`;
}

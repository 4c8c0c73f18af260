import { stringifyExact } from "../../core/json/exact-json.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import { safeToShow } from "../../core/text/hidden-text.ts";

/** Returns a progress notification or log message as one line of text. */
export function notificationText(notification: CallNotification): string {
  return safeToShow(notificationLine(notification));
}

function notificationLine({ method, params }: CallNotification): string {
  if (method === "notifications/progress") {
    const total = params["total"] === undefined ? "" : ` of ${String(params["total"])}`;
    return (
      "progress: " +
      `${String(params["progress"])}${total}${params["message"] === undefined ? "" : ` ${String(params["message"])}`}`
    );
  }
  const data = params["data"];
  return `${String(params["level"] ?? "log")}: ${typeof data === "string" ? data : stringifyExact(data)}`;
}

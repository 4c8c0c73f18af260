import { parseExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { HubNotification } from "../ports/hub-notifications.ts";

/** Members of each notification besides `type`, and their types. */
const MEMBERS: Readonly<Record<HubNotification["type"], Readonly<Record<string, "string" | "object">>>> = {
  "end-session": { session: "string" },
  "resource-updated": { hub: "string", update: "object" },
  "access-ended": { tokens: "string" },
  "vault-changed": {},
  configuration: { hub: "string", digest: "string" },
};

/** Returns the notification, or `undefined` if another program or a newer hub sent something else. */
export function parseNotification(text: string): HubNotification | undefined {
  try {
    const value: unknown = parseExact(text);
    return isJsonObject(value) && isComplete(value) ? (value as unknown as HubNotification) : undefined;
  } catch {
    return undefined;
  }
}

function isComplete(value: JsonObject): boolean {
  const { type } = value;
  if (typeof type !== "string" || !Object.hasOwn(MEMBERS, type)) return false;
  const members = Object.entries(MEMBERS[type as HubNotification["type"]]);
  return members.every(([name, kind]) => (kind === "string" ? typeof value[name] === kind : isJsonObject(value[name])));
}

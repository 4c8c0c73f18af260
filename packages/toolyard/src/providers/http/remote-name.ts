import { isJsonObject } from "../../core/json/json.ts";

/** Returns the name of a remote server: its alias, else its namespace, else its host. */
export function remoteName(entry: unknown): string {
  if (!isJsonObject(entry)) return "?";
  const name = [entry["alias"], entry["namespace"], entry["host"]].find((one) => typeof one === "string" && one !== "");
  if (typeof name === "string") return name;
  return typeof entry["url"] === "string" && URL.canParse(entry["url"]) ? new URL(entry["url"]).hostname : "?";
}

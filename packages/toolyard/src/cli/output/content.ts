import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";

/** Returns a tool's result as text for users: texts unchanged, other blocks with name and size. */
export function contentText(result: JsonObject): string {
  const content = listMember(result, "content");
  const parts = content.filter(isJsonObject).map(blockText);
  if (parts.length === 0 && result["structuredContent"] !== undefined)
    return stringifyExact(result["structuredContent"], 2);
  return parts.join("\n");
}

export function blockText(block: JsonObject): string {
  const { type } = block;
  if (type === "text") return String(block["text"] ?? "");
  if (type === "image" || type === "audio")
    return `[${type} ${String(block["mimeType"] ?? "")}, ${decodedBytes(block["data"])} bytes]`;
  if (type === "resource_link") return `[${String(block["uri"] ?? "")}] ${String(block["name"] ?? "")}`;
  if (type === "resource" && isJsonObject(block["resource"])) return resourceText(block["resource"]);
  return stringifyExact(block);
}

export function resourceText(resource: JsonObject): string {
  if (typeof resource["text"] === "string") return resource["text"];
  return (
    `[${String(resource["uri"] ?? "")} ${String(resource["mimeType"] ?? "")}, ${decodedBytes(resource["blob"])} ` +
    "bytes]"
  );
}

function decodedBytes(data: unknown): number {
  return typeof data === "string" ? Buffer.byteLength(data, "base64") : 0;
}

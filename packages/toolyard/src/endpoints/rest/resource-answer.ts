import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import { findMediaType } from "../../http/answer/header-value.ts";
import { send } from "./answer.ts";

/**
 * Sends a resource's content unchanged, with its media type if that is a valid header value. The content security
 * policy `sandbox` denies the content scripts, forms and this hub's origin in a browser. Returns a failure unless the
 * result has exactly one content.
 */
export function sendRaw(answer: HttpAnswer, result: JsonObject): Fail | undefined {
  const contents = listMember(result, "contents");
  const [content] = contents;
  if (contents.length !== 1 || !isJsonObject(content))
    return fail(
      "invalid_params",
      `\`raw\` is for a resource of one content, and this one has ${contents.length}. Ask without it.`,
    );
  const { text, blob, mimeType } = content;
  const body = typeof text === "string" ? text : Buffer.from(typeof blob === "string" ? blob : "", "base64");
  const fallback = typeof text === "string" ? "text/plain; charset=utf-8" : "application/octet-stream";
  send(answer, body, {
    status: 200,
    headers: {
      "content-type": findMediaType(mimeType) ?? fallback,
      "content-security-policy": "sandbox; default-src 'none'",
    },
  });
  return undefined;
}

import { isJsonObject, type JsonObject, listMember } from "../../core/json.ts";
import { fail, type Fail } from "../../core/outcome.ts";
import type { HttpAnswer } from "../../http/answer.ts";
import { send } from "./answer.ts";

/**
 * Sends a resource's content as it is, with its media type. Whatever a browser makes of it, it gets no script, no form
 * and none of this hub's origin. Gives a failure when there is not exactly one content.
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
      "content-type": typeof mimeType === "string" && MEDIA_TYPE.test(mimeType) ? mimeType : fallback,
      "content-security-policy": "sandbox; default-src 'none'",
    },
  });
  return undefined;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;\s*[\w-]+=("[^"\r\n\\]*"|[\w!#$&^.+-]+))*$/;

import type { AuthRequest } from "../../auth/builtin/auth-server.ts";
import type { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import type { BridgedAnswer } from "../../auth/builtin/node-bridge.ts";
import type { AuthPolls } from "../../state/ports/auth-state.ts";
import { AUTH_ROUTES } from "../../auth/builtin/provider.ts";
import { objectOf } from "../../auth/builtin/redirects.ts";
import type { JsonObject } from "../../core/json/json.ts";

/**
 * Adds a scope of the hub to an authorization request that has none of the hub's scopes. Otherwise `oidc-provider`
 * would deny the request after the user has signed in.
 */
export function withScope(request: AuthRequest, scopes: readonly string[]): AuthRequest {
  const { method, url, body } = request;
  const isDevice = url === AUTH_ROUTES.device_authorization;
  if (!isDevice && url !== AUTH_ROUTES.authorization && !url.startsWith(`${AUTH_ROUTES.authorization}?`))
    return request;
  const mark = url.indexOf("?");
  const sent = new URLSearchParams(method === "POST" ? body.toString("utf8") : mark === -1 ? "" : url.slice(mark + 1));
  const wanted = (sent.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  if (wanted.some((scope) => scopes.includes(scope))) return request;
  sent.set("scope", [...wanted, scopes[0]!].join(" "));
  const text = sent.toString();
  return method === "POST"
    ? { ...request, body: Buffer.from(text) }
    : { ...request, url: `${AUTH_ROUTES.authorization}?${text}` };
}

/**
 * Converts a machine's credentials in the body to basic authentication (RFC 6749 section 2.3.1 permits both); the
 * library accepts only one of the forms for each client.
 */
export function withBasic(request: AuthRequest, machines: AuthServerHandle["options"]["machines"]): AuthRequest {
  if (request.url !== AUTH_ROUTES.token || request.headers["authorization"] !== undefined) return request;
  const sent = new URLSearchParams(request.body.toString("utf8"));
  const [id, secret] = [sent.get("client_id"), sent.get("client_secret")];
  if (id === null || secret === null || !machines.some((machine) => machine.id === id)) return request;
  sent.delete("client_secret");
  const pair = Buffer.from([id, secret].map(encodeURIComponent).join(":")).toString("base64");
  const headers = { ...request.headers, authorization: `Basic ${pair}` };
  return { ...request, headers, body: Buffer.from(sent.toString()) };
}

/**
 * Replaces the error `authorization_pending` by `slow_down` if a device requested its tokens too soon (RFC 8628 section
 * 3.5).
 */
export async function withSlowDown(
  { body }: AuthRequest,
  answer: BridgedAnswer,
  polls: AuthPolls,
): Promise<BridgedAnswer> {
  if (answer.status !== 400 || objectOf(answer.body)?.["error"] !== "authorization_pending") return answer;
  const code = new URLSearchParams(body.toString("utf8")).get("device_code") ?? "";
  return (await polls.isTooSoon(code)) ? { ...answer, body: Buffer.from(JSON.stringify(SLOW_DOWN)) } : answer;
}

const SLOW_DOWN: JsonObject = {
  error: "slow_down",
  error_description: "The request came too soon. Wait 5 seconds longer before each further request.",
};

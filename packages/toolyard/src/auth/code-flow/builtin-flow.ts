import { parseJsonObject } from "../../core/json/json-object-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { CodeFlow } from "../../core/ports/code-flow.ts";
import type { AuthServerHandle } from "../builtin/auth-server-handle.ts";
import { CONSOLE_CALLBACK } from "../builtin/console-client.ts";
import { BASE_SCOPE, CONSOLE_CLIENT } from "../builtin/options.ts";
import { AUTH_ROUTES } from "../builtin/provider.ts";
import { authorizationQuery, codeOf, refusedBy, tokensOf } from "./token-response.ts";

export interface BuiltinFlowParts {
  readonly server: AuthServerHandle;
  /** Scopes that every access token needs. */
  readonly scopes: readonly string[];
  readonly baseUrl: string;
  readonly now: () => number;
}

/**
 * Creates the sign-in at the hub's own authorization server. The token endpoint of this server is called in this
 * process.
 */
export function builtinFlow({ server, scopes, baseUrl, now }: BuiltinFlowParts): CodeFlow {
  const redirectUri = `${baseUrl}${CONSOLE_CALLBACK}`;
  const ask = async (path: string, body: Readonly<Record<string, string>>): Promise<JsonObject> => {
    const answer = await (
      await server.load()
    ).answer({
      method: "POST",
      url: path,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: Buffer.from(new URLSearchParams({ client_id: CONSOLE_CLIENT, ...body }).toString()),
      remoteAddress: "127.0.0.1",
    });
    const value = parseJsonObject(answer.body.toString("utf8")) ?? {};
    if (answer.status >= 500) throw new Error(`The authorization server of the hub answered ${answer.status}.`);
    if (answer.status >= 400) throw refusedBy(value);
    return value;
  };
  return {
    name: "hub",
    label: new URL(baseUrl).host,
    redirectUri,
    authorizationUrl: async ({ state, verifier }) => {
      const resource = `${baseUrl}/mcp`;
      const all = [BASE_SCOPE, ...scopes];
      const query = authorizationQuery({
        clientId: CONSOLE_CLIENT,
        redirectUri,
        scopes: all,
        resource,
        state,
        verifier,
      });
      return `${baseUrl}${AUTH_ROUTES.authorization}?${new URLSearchParams(query).toString()}`;
    },
    redeem: async (response, { verifier }) => {
      const code = codeOf(response, baseUrl);
      const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri };
      return tokensOf(await ask(AUTH_ROUTES.token, grant), now());
    },
    refresh: async (token) =>
      tokensOf(await ask(AUTH_ROUTES.token, { grant_type: "refresh_token", refresh_token: token }), now()),
    revoke: async (token) => void (await ask(AUTH_ROUTES.revocation, { token }).catch(() => {})),
    close: async () => {},
  };
}

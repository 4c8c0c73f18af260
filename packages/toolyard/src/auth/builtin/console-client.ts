import { CONSOLE_CLIENT } from "./options.ts";

/** Path below the hub's base path at which an authorization server returns browsers of the console. */
export const CONSOLE_CALLBACK = "/api/admin/callback";

/** Returns the metadata of the console as a client of the hub's own authorization server. */
export function consoleClient(issuer: string): object {
  return {
    client_id: CONSOLE_CLIENT,
    client_name: "Toolyard console",
    application_type: "web",
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    redirect_uris: [`${issuer}${CONSOLE_CALLBACK}`],
    // The hub itself holds the console's tokens, so they need no proof.
    dpop_bound_access_tokens: false,
  };
}

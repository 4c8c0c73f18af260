import type { AuthorizationServer } from "oauth4webapi";
import type { ServerRecord } from "./records.ts";

/** What of an authorization server the library looks at. */
export function oauthServer(server: ServerRecord): AuthorizationServer {
  const { issuer, token_endpoint, authorization_response_iss_parameter_supported: announces } = server;
  return {
    issuer,
    token_endpoint,
    ...(announces !== undefined && { authorization_response_iss_parameter_supported: announces }),
  };
}

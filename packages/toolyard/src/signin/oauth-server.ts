import type { AuthorizationServer } from "oauth4webapi";
import type { ServerRecord } from "./records.ts";

/** Converts a server record to the members of an authorization server that the library reads. */
export function oauthServer(server: ServerRecord): AuthorizationServer {
  const { issuer, token_endpoint, authorization_response_iss_parameter_supported: announces } = server;
  return {
    issuer,
    token_endpoint,
    ...(announces !== undefined && { authorization_response_iss_parameter_supported: announces }),
  };
}

import type { JsonObject } from "../core/json/json.ts";

/** Owner of a sign-in that all callers of the hub share. */
export const SHARED_PERSON = "shared";

/** Returns the owner of a personal sign-in. No principal's owner equals the shared one. */
export function personOf(principal: string): string {
  return `principal ${principal}`;
}

/** The stored facts of an authorization server, with which a token is renewed without a new lookup. */
export interface ServerRecord {
  readonly issuer: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly device_authorization_endpoint?: string;
  readonly code_challenge_methods_supported?: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly authorization_response_iss_parameter_supported?: boolean;
  readonly client_id_metadata_document_supported?: boolean;
}

export type ClientAuthMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

/** The hub's client at an authorization server; never used at another issuer. */
export interface ClientRecord {
  readonly issuer: string;
  readonly id: string;
  readonly secret?: string;
  readonly method: ClientAuthMethod;
  /** Origin of the client: the configuration, the hub's client-ID document, or dynamic registration. */
  readonly from: "given" | "document" | "registered";
  /** The registered redirect URI. */
  readonly redirectUri?: string;
  /** Expiry in seconds since 1970; absent: no expiry. */
  readonly secretExpiresAt?: number;
}

export interface TokenRecord {
  readonly access: string;
  readonly type: "Bearer" | "DPoP";
  readonly refresh?: string;
  /** Granted scopes, separated by spaces. */
  readonly scope?: string;
  /** Time of the token response in milliseconds since 1970. */
  readonly obtainedAt: number;
  /** Lifetime in milliseconds; absent: valid until the server refuses the token. */
  readonly lifetimeMs?: number;
}

/** One sign-in: of one owner, by one client, at one issuer, to one resource. */
export interface SignInRecord {
  /** Id of the source in the configuration. */
  readonly source: string;
  /** Address of the MCP server. A source with the same name but another address does not use this record. */
  readonly url: string;
  readonly person: string;
  readonly resource?: string;
  readonly server: ServerRecord;
  readonly client: ClientRecord;
  readonly tokens?: TokenRecord;
  /** JWK of the key to which tokens of type DPoP are bound. */
  readonly key?: JsonObject;
  /** All scopes requested so far. */
  readonly scopes: readonly string[];
  /** Scopes that the server last required in addition. */
  readonly wanted?: { readonly scope: string; readonly tries: number };
  /** The reason why there are no tokens any more. */
  readonly endedBecause?: string;
  /** First time at which the server did not know the client, in milliseconds since 1970. */
  readonly unknownSince?: number;
}

/** The fields that identify a record. */
export type RecordKey = Pick<SignInRecord, "source" | "url" | "person">;

/** Formats a key as text; equal keys give equal texts. */
export function recordKeyText({ source, url, person }: RecordKey): string {
  return JSON.stringify([source, url, person]);
}

/** Returns everything in a record that must never be shown. */
export function secretsOf({ tokens, client, key }: SignInRecord): readonly string[] {
  const d = key?.["d"];
  return [tokens?.access, tokens?.refresh, client.secret, typeof d === "string" ? d : undefined].filter(
    (one) => one !== undefined && one !== "",
  ) as string[];
}

import type { JsonObject } from "../core/json/json.ts";

/** Whose sign-in it is where all callers of the hub share one. */
export const SHARED_PERSON = "shared";

/** Whose it is where each principal signs in for itself. No principal is called as all of them together are. */
export function personOf(principal: string): string {
  return `principal ${principal}`;
}

/** What is kept of an authorization server, so that a token is renewed without asking it who it is. */
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

/** The hub as an authorization server knows it; never used at another issuer. */
export interface ClientRecord {
  readonly issuer: string;
  readonly id: string;
  readonly secret?: string;
  readonly method: ClientAuthMethod;
  /** Where it came from: the configuration, a document of its own, or dynamic registration. */
  readonly from: "given" | "document" | "registered";
  /** The redirect that it is known by. */
  readonly redirectUri?: string;
  /** Seconds since 1970; absent: it does not end. */
  readonly secretExpiresAt?: number;
}

export interface TokenRecord {
  readonly access: string;
  readonly type: "Bearer" | "DPoP";
  readonly refresh?: string;
  /** As granted, with spaces between scopes. */
  readonly scope?: string;
  /** Milliseconds since 1970. */
  readonly obtainedAt: number;
  /** Milliseconds that it is good for; absent: until the server refuses it. */
  readonly lifetimeMs?: number;
}

/** One sign-in: of one person, by one client, at one issuer, to one resource. */
export interface SignInRecord {
  /** Id of the source in the configuration. */
  readonly source: string;
  /** Address of the MCP server. A source of the same name and another address has nothing to do with it. */
  readonly url: string;
  readonly person: string;
  readonly resource?: string;
  readonly server: ServerRecord;
  readonly client: ClientRecord;
  readonly tokens?: TokenRecord;
  /** JWK of the key that tokens of type DPoP are bound to. */
  readonly key?: JsonObject;
  /** All that was asked for so far. */
  readonly scopes: readonly string[];
  /** What the server asked for beyond that, at the latest. */
  readonly wanted?: { readonly scope: string; readonly tries: number };
  /** Why there are no tokens any more. */
  readonly endedBecause?: string;
  /** When the server first did not know the client, in milliseconds since 1970. */
  readonly unknownSince?: number;
}

/** Which record is meant. */
export type RecordKey = Pick<SignInRecord, "source" | "url" | "person">;

/** The same text for the same record. */
export function recordKeyText({ source, url, person }: RecordKey): string {
  return JSON.stringify([source, url, person]);
}

/** Everything in a record that must be shown nowhere. */
export function secretsOf({ tokens, client, key }: SignInRecord): readonly string[] {
  const d = key?.["d"];
  return [tokens?.access, tokens?.refresh, client.secret, typeof d === "string" ? d : undefined].filter(
    (one) => one !== undefined && one !== "",
  ) as string[];
}

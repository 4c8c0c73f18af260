/** Facts of one `WWW-Authenticate` challenge (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface ChallengeFacts {
  /** Absent if the request had no credentials: RFC 6750 then requires that there is no error code. */
  readonly error?: "invalid_token" | "insufficient_scope" | "invalid_request";
  readonly description?: string;
  /** All scopes that the operation needs. */
  readonly scopes?: readonly string[];
  /** Address of the protected-resource metadata. */
  readonly metadata?: string;
}

/** Formats a `Bearer` challenge. */
export function formatChallenge({ error, description, scopes = [], metadata }: ChallengeFacts): string {
  const parameters = [
    ["realm", "toolyard"],
    ["error", error],
    ["error_description", description],
    ["scope", scopes.length > 0 ? scopes.join(" ") : undefined],
    ["resource_metadata", metadata],
  ];
  const written = parameters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${quoted(value)}"`]));
  return `Bearer ${written.join(", ")}`;
}

/** Quotes a value. RFC 6750 forbids quotes, backslashes and non-ASCII characters in it. */
function quoted(value: string): string {
  return value.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");
}

/** Facts of a `WWW-Authenticate` challenge (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728 section 5.1). */
export interface ChallengeFacts {
  /** Absent if the request had no credentials: RFC 6750 then requires that there is no error code. */
  readonly error?: ChallengeError;
  readonly description?: string;
  /** All scopes that the operation needs. */
  readonly scopes?: readonly string[];
  /** Address of the protected-resource metadata. */
  readonly metadata?: string;
}

type ChallengeError =
  | "invalid_token"
  | "insufficient_scope"
  | "invalid_request"
  | "invalid_dpop_proof"
  | "use_dpop_nonce";

/** Rules for tokens that are bound to a key. */
export interface BindingRules {
  /** Signature algorithms that proofs may use. */
  readonly algorithms: readonly string[];
  /** True if bearer tokens are refused. */
  readonly isRequired: boolean;
}

export type Scheme = "Bearer" | "DPoP";

/**
 * Formats a `Bearer` and a `DPoP` challenge, beginning with the caller's scheme. Only the challenge of this scheme
 * contains the error. The error `insufficient_scope` is in both, because each client reads only the challenge of the
 * scheme that it supports. If bearer tokens are refused, there is a `DPoP` challenge only.
 */
export function formatChallenges(facts: ChallengeFacts, rules: BindingRules, scheme: Scheme = "Bearer"): string {
  const { error, description: _, ...rest } = facts;
  const other: ChallengeFacts = error === "insufficient_scope" ? { ...rest, error } : rest;
  const own = (name: Scheme): ChallengeFacts => (name === scheme || rules.isRequired ? facts : other);
  const dpop = formatChallenge("DPoP", own("DPoP"), rules.algorithms);
  if (rules.isRequired) return dpop;
  const bearer = formatChallenge("Bearer", own("Bearer"));
  return scheme === "DPoP" ? `${dpop}, ${bearer}` : `${bearer}, ${dpop}`;
}

function formatChallenge(scheme: Scheme, facts: ChallengeFacts, algorithms: readonly string[] = []): string {
  const { error, description, scopes = [], metadata } = facts;
  const parameters = [
    ["realm", "toolyard"],
    ["error", error],
    ["error_description", description],
    ["scope", scopes.length > 0 ? scopes.join(" ") : undefined],
    ["resource_metadata", metadata],
    ["algs", algorithms.length > 0 ? algorithms.join(" ") : undefined],
  ];
  const written = parameters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${quoted(value)}"`]));
  return `${scheme} ${written.join(", ")}`;
}

/** Quotes a value. RFC 6750 forbids quotes, backslashes and non-ASCII characters in it. */
function quoted(value: string): string {
  return value.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");
}

/** Signature algorithms that proofs of keys may use (RFC 9449). All are asymmetric, as the RFC requires. */
export const PROOF_ALGORITHMS: readonly string[] = ["ES256", "ES384", "ES512", "PS256", "RS256", "EdDSA", "Ed25519"];

/** Error: the proof of a key is not accepted. The caller gets the message, which never repeats parts of the proof. */
export class ProofError extends Error {
  override readonly name = "ProofError";
  /** Error code of the challenge. `invalid_token`: the proof is valid, but for another token or key. */
  readonly code: "invalid_dpop_proof" | "invalid_token" | "use_dpop_nonce";
  /** Nonce that the next proof must contain. Present for `use_dpop_nonce`. */
  readonly nonce: string | undefined;

  constructor(message: string, code: ProofError["code"] = "invalid_dpop_proof", nonce?: string) {
    super(message);
    this.code = code;
    this.nonce = nonce;
  }
}

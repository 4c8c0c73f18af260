/** Computes text embeddings: vectors of length 1 that are close together for texts of similar meaning. */
export interface Embedder {
  /** Identifier that is stored with the vectors. Vectors of different embedders cannot be compared. */
  readonly id: string;
  /** Length of a vector, if it is known before the first vector was computed. */
  readonly dimensions?: number;
  /** Supported languages (ISO 639-1). Documents in other languages get no vectors. Absent: all languages. */
  readonly languages?: readonly string[];
  /** Relation between cosine and probability of relevance. Absent: results have no similarity. */
  readonly calibration?: Calibration;
  embed(texts: readonly string[], purpose: "query" | "passage"): Promise<Float32Array[]>;
}

/** A logistic curve, fitted to relevance judgements: the share of relevant passages for each cosine. */
export interface Calibration {
  /** Cosine at which half of the passages are relevant. */
  readonly middle: number;
  /** Difference of the cosine that multiplies the odds by e. */
  readonly spread: number;
}

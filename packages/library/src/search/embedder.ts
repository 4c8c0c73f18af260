/** Makes vectors of texts, of length 1, so that texts of like meaning are near to one another. */
export interface Embedder {
  /** Kept with the vectors: those of another embedder cannot be compared with them. */
  readonly id: string;
  readonly dimensions: number;
  /** ISO 639-1 of those that it understands; documents in others get no vectors. Absent: all. */
  readonly languages?: readonly string[];
  /** Relation of cosine and correctness. Absent: results have no similarity. */
  readonly calibration?: Calibration;
  embed(texts: readonly string[], purpose: "query" | "passage"): Promise<Float32Array[]>;
}

/** A logistic curve, measured with judged questions: the share of passages with a cosine that are right. */
export interface Calibration {
  /** Cosine at which a passage is as likely right as wrong. */
  readonly middle: number;
  /** Difference of cosine that multiplies the odds by e. */
  readonly spread: number;
}

/** Makes vectors of texts, of length 1, so that texts of like meaning are near to one another. */
export interface Embedder {
  /** Kept with the vectors: those of another embedder cannot be compared with them. */
  readonly id: string;
  readonly dimensions: number;
  /** ISO 639-1 of those that it understands; documents in others get no vectors. Absent: all. */
  readonly languages?: readonly string[];
  embed(texts: readonly string[], purpose: "query" | "passage"): Promise<Float32Array[]>;
}

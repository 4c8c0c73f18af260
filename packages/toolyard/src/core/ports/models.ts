/**
 * The models of the configuration that tools may use. A method is absent when no model of its kind is configured. They
 * reject with a `FailError`: `unavailable`, `limited`, `timeout`, `cancelled` by the signal.
 */
export interface Models {
  readonly generateImage?: ((request: ImageRequest, signal: AbortSignal) => Promise<GeneratedImage>) | undefined;
  readonly generateText?: ((request: TextRequest, signal: AbortSignal) => Promise<GeneratedText>) | undefined;
}

export interface ImageRequest {
  readonly prompt: string;
  readonly negativePrompt?: string;
  /** In pixels; the model's own where absent. */
  readonly width?: number;
  readonly height?: number;
  /** A name of the configuration. @default the configured one */
  readonly model?: string;
}

export interface GeneratedImage {
  readonly data: Uint8Array;
  readonly mimeType: string;
}

export interface TextRequest {
  readonly prompt: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** A name of the configuration. @default the configured one */
  readonly model?: string;
}

export interface GeneratedText {
  readonly text: string;
}

/** Turns texts into vectors: the nearer two directions, the more alike the texts. */
export interface Embedder {
  /** What tells this model from every other, address included. */
  readonly model: string;
  /** One vector a text, in their order, all of one length. Rejects with a `FailError`. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

/** Turns a text into a vector at once, in this process. */
export interface TextEmbedder {
  /** What tells its vectors from those of every other. */
  readonly model: string;
  /** Numbers of a vector. */
  readonly dimensions: number;
  /** A vector of length 1; all zeros for a text of which no word is known. */
  embed(text: string): Float32Array;
}

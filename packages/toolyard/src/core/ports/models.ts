/**
 * The configured models that tools may use. A method is absent if no model of its kind is configured. They reject with
 * a `FailError`: `unavailable`, `limited`, `timeout`, `cancelled` by the signal.
 */
export interface Models {
  readonly generateImage?: ((request: ImageRequest, signal: AbortSignal) => Promise<GeneratedImage>) | undefined;
  readonly generateText?: ((request: TextRequest, signal: AbortSignal) => Promise<GeneratedText>) | undefined;
}

export interface ImageRequest {
  readonly prompt: string;
  readonly negativePrompt?: string;
  /** In pixels. @default the model's own */
  readonly width?: number;
  readonly height?: number;
  /** Image model, as `provider/model`. @default the configured image model */
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

/** Turns texts into vectors: the closer two directions, the more similar the texts. */
export interface Embedder {
  /** Distinguishes this model from every other, including its address. */
  readonly model: string;
  /** Returns one vector per text, in order, all of one length. Rejects with a `FailError`. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

/** Turns a text into a vector synchronously, in this process. */
export interface TextEmbedder {
  /** Distinguishes its vectors from those of every other embedder. */
  readonly model: string;
  /** Numbers in a vector. */
  readonly dimensions: number;
  /** Returns a vector of length 1; all zeros for a text without known words. */
  embed(text: string): Float32Array;
}

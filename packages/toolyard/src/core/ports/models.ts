import type { JsonObject } from "../json/json.ts";

/**
 * Configured models that tools may use. A method is absent if no model of its kind is configured. The methods reject
 * with a `FailError`: `unavailable`, `limited`, `timeout`, or `cancelled` by the signal.
 */
export interface Models {
  readonly generateImage?: ((request: ImageRequest, signal: AbortSignal) => Promise<GeneratedImage>) | undefined;
  readonly generateText?: ((request: TextRequest, signal: AbortSignal) => Promise<GeneratedText>) | undefined;
}

export interface ImageRequest {
  readonly prompt: string;
  readonly negativePrompt?: string;
  /** Width in pixels. @default the model's default */
  readonly width?: number;
  readonly height?: number;
  /** Image model, as `provider/model`. @default the configured image model */
  readonly model?: string;
  /** `_meta` of the call that uses the model, with its trace context. @default none */
  readonly meta?: JsonObject;
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
  /** Name of a configured model. @default the configured default model */
  readonly model?: string;
  /** `_meta` of the call that uses the model, with its trace context. @default none */
  readonly meta?: JsonObject;
}

export interface GeneratedText {
  readonly text: string;
}

/** Converts texts to vectors. The closer the directions of two vectors, the more similar are the texts. */
export interface Embedder {
  /** Id of the model, different from that of every other model and address. */
  readonly model: string;
  /** Returns one vector per text, in the same order and all of the same length. Rejects with a `FailError`. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

/** Converts a text to a vector synchronously, in this process. */
export interface TextEmbedder {
  /** Id of the embedder, different from that of every other embedder. */
  readonly model: string;
  /** Number of elements of a vector. */
  readonly dimensions: number;
  /** Returns a vector of length 1; all zeros for a text without known words. */
  embed(text: string): Float32Array;
}

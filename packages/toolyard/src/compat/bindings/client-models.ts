import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { GeneratedImage, GeneratedText, ImageRequest, Models, TextRequest } from "../../core/ports/models.ts";
import { fail } from "../../core/calls/outcome.ts";
import { orAborted } from "../../core/timing/wait.ts";

/** Request to a text-to-image binding. */
export interface TtiRequest {
  readonly prompt: string;
  readonly negative_prompt?: string;
  /** Width in pixels. Absent: the binding's default. */
  readonly width?: number;
  readonly height?: number;
  readonly signal: AbortSignal;
}

type Image = Uint8Array | { readonly data: Uint8Array };

/**
 * A text-to-image binding of a client. It returns the bytes of a PNG, JPEG, WebP, GIF or AVIF. Both spellings work.
 */
export interface TtiBinding {
  generateImage?(request: TtiRequest): Promise<Image> | Image;
  generate_image?(request: TtiRequest): Promise<Image> | Image;
}

/** Second argument of a text generation request. */
export interface TextOptions {
  readonly system_prompt?: string;
  readonly n_predict?: number;
  readonly temperature?: number;
  readonly signal: AbortSignal;
}

/** Function `generate_text(prompt, options)` of a client, which returns the text. */
export type GenerateText = (prompt: string, options: TextOptions) => Promise<string> | string;

/** A text generation binding of a client. */
export interface LlmBinding {
  generateText?: GenerateText;
  generate_text?: GenerateText;
}

/** Returns the models that a client instance offers to tools, or `undefined`. */
export function clientModels(client: object | undefined): Models | undefined {
  const { tti, llm } = (client ?? {}) as { readonly tti?: unknown; readonly llm?: unknown };
  const draw = methodOf<NonNullable<TtiBinding["generateImage"]>>(tti, ["generateImage", "generate_image"]);
  const names = ["generateText", "generate_text"];
  const write = methodOf<GenerateText>(client, names) ?? methodOf<GenerateText>(llm, names);
  if (!draw && !write) return undefined;
  return {
    ...(draw ? { generateImage: (request, signal) => drawWith(draw, request, signal) } : {}),
    ...(write ? { generateText: (request, signal) => writeWith(write, request, signal) } : {}),
  };
}

function methodOf<F>(owner: unknown, names: readonly string[]): F | undefined {
  if (typeof owner !== "object" || owner === null) return undefined;
  const methods = names.map((name) => (owner as Record<string, unknown>)[name]);
  const method = methods.find((one) => typeof one === "function");
  return method === undefined ? undefined : ((method as (...args: unknown[]) => unknown).bind(owner) as F);
}

async function writeWith(
  write: GenerateText,
  { prompt, system, maxTokens, temperature }: TextRequest,
  signal: AbortSignal,
): Promise<GeneratedText> {
  const options = {
    signal,
    ...(system === undefined ? {} : { system_prompt: system }),
    ...(maxTokens === undefined ? {} : { n_predict: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
  const text: unknown = await asked(() => write(prompt, options), "language", signal);
  if (typeof text === "string") return { text };
  throw new FailError(fail("malformed", "The client's language model did not return text."));
}

/** Requests a model of the client. Rejects when `signal` aborts, because the model may ignore the signal. */
function asked(ask: () => unknown, what: "language" | "image", signal: AbortSignal): Promise<unknown> {
  return orAborted((async () => ask())(), signal).catch((error: unknown) => {
    throw error instanceof FailError
      ? error
      : new FailError(fail("tool_error", `The client's ${what} model failed: ${messageOf(error)}`, { cause: error }));
  });
}

async function drawWith(
  draw: NonNullable<TtiBinding["generateImage"]>,
  { prompt, negativePrompt, width, height }: ImageRequest,
  signal: AbortSignal,
): Promise<GeneratedImage> {
  const request = {
    prompt,
    signal,
    ...(negativePrompt === undefined ? {} : { negative_prompt: negativePrompt }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
  const image = await asked(() => draw(request), "image", signal);
  const data = isJsonObject(image) && !(image instanceof Uint8Array) ? image["data"] : image;
  if (data instanceof Uint8Array) return { data, mimeType: "application/octet-stream" };
  throw new FailError(fail("malformed", "The client's image model did not return a `Uint8Array` with an image."));
}

import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import type { GeneratedImage, ImageRequest, Models } from "../../core/models.ts";
import { fail } from "../../core/outcome.ts";
import { orAborted } from "../../core/wait.ts";

/** What a text-to-image binding is asked for. */
export interface TtiRequest {
  readonly prompt: string;
  readonly negative_prompt?: string;
  /** In pixels; the binding's own where absent. */
  readonly width?: number;
  readonly height?: number;
  readonly signal: AbortSignal;
}

type Image = Uint8Array | { readonly data: Uint8Array };

/**
 * An active text-to-image binding of a client: it gives the bytes of a PNG, JPEG, WebP, GIF or AVIF. Either spelling
 * will do.
 */
export interface TtiBinding {
  generateImage?(request: TtiRequest): Promise<Image> | Image;
  generate_image?(request: TtiRequest): Promise<Image> | Image;
}

/** The models that a client instance lends to the tools it calls; nothing when it has none. */
export function clientModels(tti: unknown): Models | undefined {
  if (typeof tti !== "object" || tti === null) return undefined;
  const binding = tti as TtiBinding;
  const draw = binding.generateImage ?? binding.generate_image;
  return typeof draw === "function"
    ? { generateImage: (request, signal) => drawWith(draw.bind(binding), request, signal) }
    : undefined;
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
  // A binding need not look at the signal; nobody waits for it even so.
  const image: unknown = await orAborted((async () => draw(request))(), signal).catch((error: unknown) => {
    throw error instanceof FailError
      ? error
      : new FailError(fail("tool_error", `The client's image model failed: ${messageOf(error)}`, { cause: error }));
  });
  const data = isJsonObject(image) && !(image instanceof Uint8Array) ? image["data"] : image;
  if (data instanceof Uint8Array) return { data, mimeType: "application/octet-stream" };
  throw new FailError(
    fail("malformed", "The client's image model gave something that is no `Uint8Array` with an image."),
  );
}

import type { generateImage as generateWithSdk, ImageModel } from "ai";
import { OptionError } from "../core/errors.ts";
import type { GeneratedImage, ImageRequest } from "../core/ports/models.ts";
import { outboundFailure } from "../outbound/failures.ts";
import type { OutboundClient } from "../outbound/outbound-client.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { imageType } from "./image-type.ts";
import { settingsOf } from "./language-model.ts";
import { toModelFailure } from "./model-failure.ts";
import { assertKey, parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./model-provider.ts";
import type { ModelsOptions } from "./options.ts";
import { PACKAGES } from "./packages.ts";

type LoadedImageModel = Exclude<ImageModel, string>;

const PURPOSE = "images by that provider";
/** Time limit of one image, from the request to its last byte, in milliseconds. */
const TIMEOUT_MS = 300_000;
/** Maximum size of a response, in bytes. An image in base64 is a third larger. */
const MAX_ANSWER_BYTES = 48 * 1024 * 1024;
const MAX_SIDE = 8192;

export interface ImageMaker {
  readonly providers: ModelsOptions["providers"];
  readonly client: OutboundClient;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/**
 * Generates one image with the model `provider/model`. Rejects with a `FailError`. Never retries, because each attempt
 * costs money.
 */
export async function generateImage(
  name: string,
  request: ImageRequest,
  { signal, ...maker }: ImageMaker & { readonly signal: AbortSignal },
): Promise<GeneratedImage> {
  let service = "The image model";
  try {
    const { provider, model: id } = parseModelName(name, maker.providers);
    service = `The image model of ${provider.name}`;
    assertKey(provider);
    const model = await loadImageModel({ provider, id, service }, maker);
    const { generateImage: generate } = await PACKAGES.sdk(PURPOSE);
    const { image } = await generate({
      model,
      ...toSettings(provider, request),
      n: 1,
      maxRetries: 0,
      abortSignal: signal,
    });
    return checkedImage(image.uint8Array, service);
  } catch (error) {
    if (error instanceof Error && error.name === "AI_NoImageGeneratedError") {
      throw outboundFailure(
        "tool_error",
        { service, what: "returned no image. It may have refused the prompt: rephrase it." },
        { cause: error },
      );
    }
    throw toModelFailure(error, service, signal);
  }
}

function checkedImage(data: Uint8Array, service: string): GeneratedImage {
  const type = imageType(data);
  if (!type)
    throw outboundFailure("malformed", {
      service,
      what: "did not return an image (PNG, JPEG, WebP, GIF or AVIF).",
    });
  return { data, mimeType: type.mimeType };
}

async function loadImageModel(
  { provider, id, service }: { readonly provider: ModelProvider; readonly id: string; readonly service: string },
  { client, timeoutMs = TIMEOUT_MS, maxBytes = MAX_ANSWER_BYTES }: ImageMaker,
): Promise<LoadedImageModel> {
  const { baseUrl } = provider;
  const settings = {
    ...settingsOf(provider),
    fetch: boundedFetch({ service, client, timeoutMs, maxBytes, ...(baseUrl === undefined ? {} : { baseUrl }) }),
  };
  switch (provider.kind) {
    case "openai":
      return (await PACKAGES.openai(PURPOSE)).createOpenAI(settings).image(id);
    case "google":
      return (await PACKAGES.google(PURPOSE)).createGoogleGenerativeAI(settings).image(id);
    case "openai-compatible":
      return (await PACKAGES.compatible(PURPOSE))
        .createOpenAICompatible({ ...settings, name: OPTIONS_KEY, baseURL: baseUrl ?? "" })
        .imageModel(id);
    default:
      throw new OptionError(
        `${provider.name} has no image models. Set \`models.image\` to one of openai, google or an ` +
          "OpenAI-compatible provider.",
      );
  }
}

/** Key for additional members of the body in the SDK's options. */
const OPTIONS_KEY = "compatible";

type ImageCallSettings = Pick<
  Parameters<typeof generateWithSdk>[0],
  "prompt" | "size" | "aspectRatio" | "providerOptions"
>;

/**
 * Converts the options of an image. Only servers for open models have a parameter for a negative prompt. For vendors'
 * APIs, which refuse it, the negative prompt is added to the prompt.
 */
function toSettings(
  { kind }: ModelProvider,
  { prompt, negativePrompt, width, height }: ImageRequest,
): ImageCallSettings {
  const isCompatible = kind === "openai-compatible";
  const hasNegative = negativePrompt !== undefined && negativePrompt.trim() !== "";
  const sides = sidesOf(width, height);
  return {
    prompt: hasNegative && !isCompatible ? `${prompt}\n\nLeave out: ${negativePrompt}` : prompt,
    ...(sides &&
      (kind === "google" ? { aspectRatio: nearestRatio(sides) } : { size: `${sides.width}x${sides.height}` as const })),
    ...(hasNegative && isCompatible ? { providerOptions: { [OPTIONS_KEY]: { negative_prompt: negativePrompt } } } : {}),
  };
}

interface Sides {
  readonly width: number;
  readonly height: number;
}

function sidesOf(width: number | undefined, height: number | undefined): Sides | undefined {
  if (width === undefined && height === undefined) return undefined;
  const sides = { width: width ?? height!, height: height ?? width! };
  const isUsable = (side: number): boolean => Number.isInteger(side) && side >= 1 && side <= MAX_SIDE;
  if (isUsable(sides.width) && isUsable(sides.height)) return sides;
  throw outboundFailure("invalid_params", {
    service: "The image",
    what: `cannot be ${sides.width} by ${sides.height} pixels: both must be whole numbers from 1 to ${MAX_SIDE}.`,
  });
}

const RATIOS = ["1:1", "3:4", "4:3", "9:16", "16:9"] as const;

/** Returns the aspect ratio nearest to the sides. Google's models accept an aspect ratio, not a size. */
function nearestRatio({ width, height }: Sides): (typeof RATIOS)[number] {
  const distance = (ratio: string): number => {
    const [across = 1, down = 1] = ratio.split(":").map(Number);
    return Math.abs(Math.log((width / height) * (down / across)));
  };
  return RATIOS.toSorted((a, b) => distance(a) - distance(b))[0]!;
}

import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { formatBytes } from "../../core/text/bytes.ts";
import { FailError, OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ImageRequest, Models } from "../../core/ports/models.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import { imageType } from "../../models/image-type.ts";
import type { FixedTool } from "../fixed-tools.ts";
import { FileRefusal } from "./confined-path.ts";
import type { ConfinedFiles } from "./confined-files.ts";
import { defaultToolRecord, endOfCall, failedResult, valueResult } from "./default-tool.ts";
import { firstChars } from "../../core/text/truncate.ts";

const MAX_SIDE = 8192;

const INPUT: JsonObject = {
  type: "object",
  properties: {
    prompt: { type: "string", description: "Description of the image.", minLength: 1, maxLength: 32_000 },
    negative_prompt: { type: "string", description: "Things that the image must not show." },
    width: {
      type: "integer",
      description: "Width in pixels, if the model supports it.",
      minimum: 1,
      maximum: MAX_SIDE,
    },
    height: {
      type: "integer",
      description: "Height in pixels, if the model supports it.",
      minimum: 1,
      maximum: MAX_SIDE,
    },
    output_filename_suggestion: {
      type: "string",
      description: "Name of the file without a folder. The type of the image determines its extension.",
    },
  },
  required: ["prompt"],
};

const OUTPUT: JsonObject = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["success", "error"] },
    message: { type: "string" },
    image_path: { type: "string", description: "Path of the file, relative to the folder for files." },
    image_url: { type: "string", description: "Address of the file (file://)." },
  },
  required: ["status", "message"],
};

export interface ImageParts {
  readonly models: Models;
  readonly files: ConfinedFiles;
  /** Absolute path of the folder for the files. */
  readonly root: string;
  readonly timeoutMs: number;
}

/** Creates `generate_image_from_prompt(prompt, …)`, which returns `{status, message, image_path, image_url}`. */
export function generateImageTool(source: Source, parts: ImageParts): FixedTool {
  const { timeoutMs } = parts;
  const record = defaultToolRecord(source, {
    name: "generate_image_from_prompt",
    title: "Draw an image",
    description:
      "Generates an image from a text with the configured image model, and saves it in the hub's folder for files " +
      "(`default_tools.file_roots`).",
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    keywords: ["image", "picture", "draw", "paint", "illustration", "generate"],
    limits: { timeoutMs, totalTimeoutMs: timeoutMs },
  });
  return { record, run: (call) => run(call, parts) };
}

const NO_MODEL =
  'No image model is configured. Set `models.image` to a model such as "openai/gpt-image-1", or call with a client ' +
  "instance that has a text-to-image binding (`tti`).";

async function run(call: ResolvedCall, { models, files, root }: ImageParts): Promise<Outcome> {
  const { prompt, output_filename_suggestion: suggestion = "" } = call.arguments as {
    prompt: string;
    output_filename_suggestion?: string;
  };
  // A model of the calling program takes precedence over the configured one.
  try {
    const lent = call.models?.generateImage ? call.models : models;
    if (!lent.generateImage) return failure(NO_MODEL);
    const { data } = await lent.generateImage(requestOf(call.arguments), call.signal);
    const type = imageType(data);
    if (!type)
      return failure("The image model returned something that is not an image (PNG, JPEG, WebP, GIF or AVIF).");
    const written = await files.add(`${fileName(suggestion, prompt)}${type.extension}`, data);
    return valueResult({
      status: "success",
      message: `Generated an image (${type.mimeType}, ${formatBytes(data.byteLength)}).`,
      image_path: relative(await realpath(root), written)
        .split(sep)
        .join("/"),
      image_url: pathToFileURL(written).href,
    });
  } catch (error) {
    if (error instanceof FileRefusal || error instanceof OptionError) return failure(error.message);
    if (error instanceof FailError) return endOfCall(error.failure, call) ?? failure(error.message);
    throw error;
  }
}

function failure(message: string): Outcome {
  return failedResult(message, { status: "error", message });
}

function requestOf(args: JsonObject): ImageRequest {
  const {
    prompt,
    negative_prompt: negativePrompt,
    width,
    height,
  } = args as { prompt: string; negative_prompt?: string; width?: number; height?: number };
  return {
    prompt,
    ...(negativePrompt === undefined ? {} : { negativePrompt }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
}

const MAX_NAME_CHARS = 60;

/** Returns a plain file name made from the suggestion, else from the first words of the prompt. */
function fileName(suggestion: string, prompt: string): string {
  return (
    slug(suggestion.replace(/^.*[\\/]/s, "").replace(/\.(?:png|jpe?g|webp|gif|avif)$/i, "")) ||
    slug(prompt) ||
    `image-${randomBytes(4).toString("hex")}`
  );
}

function slug(text: string): string {
  const plain = firstChars(text, 4 * MAX_NAME_CHARS)
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, "-");
  return firstChars(plain, MAX_NAME_CHARS).replaceAll(/^-+|(?<!-)-+$/g, "");
}

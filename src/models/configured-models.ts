import type { Models } from "../core/ports.ts";
import type { OutboundClient } from "../outbound/outbound-client.ts";
import { generateImage } from "./image-model.ts";
import type { ModelsOptions } from "./options.ts";
import { generateText } from "./text-model.ts";

/** The models of a configuration, as tools and scripts use them. Nothing is loaded or opened before the first request. */
export function createModels({ image, language, providers }: ModelsOptions, client: OutboundClient): Models {
  return {
    ...(image === undefined ? {} : { generateImage: (request, signal) => generateImage(request.model ?? image, request, signal, { providers, client }) }),
    ...(language === undefined ? {} : { generateText: (request, signal) => generateText(request.model ?? language, request, signal, providers) }),
  };
}

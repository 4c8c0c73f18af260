import type { GeneratedImage, ImageRequest, Models } from "../core/ports.ts";
import { VERSION } from "../core/version.ts";
import { OutboundClient } from "../outbound/outbound-client.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import { generateImage } from "./image-model.ts";
import type { ModelsOptions } from "./options.ts";
import { generateText } from "./text-model.ts";

/** The models of a configuration, as tools and scripts use them. Nothing is loaded or opened before the first request. */
export interface ConfiguredModels extends Models {
  /** Ends all connections. */
  close(): Promise<void>;
}

/** `environment` holds proxy settings. */
export function createModels(options: ModelsOptions, environment: ProxyEnvironment): ConfiguredModels {
  const { image, language, providers } = options;
  const client = new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment });
  return {
    ...(image === undefined
      ? {}
      : { generateImage: (request: ImageRequest, signal: AbortSignal): Promise<GeneratedImage> => generateImage(request.model ?? image, request, signal, { providers, client }) }),
    ...(language === undefined ? {} : { generateText: (request, signal) => generateText(request.model ?? language, request, signal, providers) }),
    close: () => client.close(),
  };
}

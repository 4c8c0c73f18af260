import type { Models } from "../../core/ports/models.ts";
import { VERSION } from "../../core/version.ts";
import { resolveModels, type ModelsConfig } from "../../models/options.ts";
import type { OutboundClient } from "../../outbound/outbound-client.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";

/**
 * Models of the current configuration, looked up at each request. Sources that use models need not be recreated after a
 * change of the configuration. A method is absent if no model of its kind is configured. No code is loaded before the
 * first request.
 */
export class LiveModels implements Models {
  readonly #config: () => ModelsConfig | undefined;
  readonly #variables: EnvironmentVariables;
  #client: Promise<OutboundClient> | undefined;

  /** `variables` contain the vendors' API keys and the proxy settings. */
  constructor(config: () => ModelsConfig | undefined, variables: EnvironmentVariables) {
    this.#config = config;
    this.#variables = variables;
  }

  get generateImage(): NonNullable<Models["generateImage"]> | undefined {
    const { image, providers } = resolveModels(this.#config(), this.#variables);
    if (image === undefined) return undefined;
    return async (request, signal) => {
      const [{ generateImage }, client] = await Promise.all([import("../../models/image-model.ts"), this.#connect()]);
      return generateImage(request.model ?? image, request, { signal, providers, client });
    };
  }

  get generateText(): NonNullable<Models["generateText"]> | undefined {
    const { language, providers } = resolveModels(this.#config(), this.#variables);
    if (language === undefined) return undefined;
    return async (request, signal) => {
      const { generateText } = await import("../../models/text-model.ts");
      return generateText(request.model ?? language, request, { signal, providers });
    };
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await (await this.#client)?.close();
  }

  #connect(): Promise<OutboundClient> {
    this.#client ??= import("../../outbound/outbound-client.ts").then(
      ({ OutboundClient: Client }) => new Client({ userAgent: `toolyard/${VERSION}`, environment: this.#variables }),
    );
    return this.#client;
  }
}

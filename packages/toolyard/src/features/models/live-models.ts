import type { JsonObject } from "../../core/json/json.ts";
import type { Models } from "../../core/ports/models.ts";
import { startWithin, type Tracing } from "../../core/ports/tracing.ts";
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
  readonly #tracing: Tracing | undefined;
  #client: Promise<OutboundClient> | undefined;

  /** `variables` contain the vendors' API keys and the proxy settings. Without `tracing`, requests are not recorded. */
  constructor(config: () => ModelsConfig | undefined, variables: EnvironmentVariables, tracing?: Tracing) {
    this.#config = config;
    this.#variables = variables;
    this.#tracing = tracing;
  }

  get generateImage(): NonNullable<Models["generateImage"]> | undefined {
    const { image, providers } = resolveModels(this.#config(), this.#variables);
    if (image === undefined) return undefined;
    return async (request, signal) => {
      const [{ generateImage }, client] = await Promise.all([import("../../models/image-model.ts"), this.#connect()]);
      const name = request.model ?? image;
      return this.#recorded({ operation: "generate_content", name }, request.meta, () =>
        generateImage(name, request, { signal, providers, client }),
      );
    };
  }

  get generateText(): NonNullable<Models["generateText"]> | undefined {
    const { language, providers } = resolveModels(this.#config(), this.#variables);
    if (language === undefined) return undefined;
    return async (request, signal) => {
      const { generateText } = await import("../../models/text-model.ts");
      const name = request.model ?? language;
      return this.#recorded({ operation: "chat", name }, request.meta, () =>
        generateText(name, request, { signal, providers }),
      );
    };
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await (await this.#client)?.close();
  }

  /** Runs a request to a model, in a span if the trace of its call is sampled. */
  async #recorded<T>(
    { operation, name }: { readonly operation: string; readonly name: string },
    meta: JsonObject | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    const [provider, ...model] = name.split("/");
    const span = startWithin(this.#tracing, { name: `${operation} ${model.join("/")}`, kind: "client" }, meta);
    if (!span) return await run();
    span.set("operation", operation);
    span.set("provider", provider!);
    span.set("model", model.join("/"));
    try {
      const value = await run();
      span.end();
      return value;
    } catch (error) {
      span.end("model_error");
      throw error;
    }
  }

  #connect(): Promise<OutboundClient> {
    this.#client ??= import("../../outbound/outbound-client.ts").then(
      ({ OutboundClient: Client }) => new Client({ userAgent: `toolyard/${VERSION}`, environment: this.#variables }),
    );
    return this.#client;
  }
}

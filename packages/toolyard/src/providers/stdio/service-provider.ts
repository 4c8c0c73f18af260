import { BuiltCall } from "../../core/calls/built-call.ts";
import type { ServerRequest } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Models } from "../../core/ports/models.ts";
import { embeddingVariables } from "../../models/embedding-service.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { Provider, ResolvedCall } from "../../core/sources/provider.ts";
import { asRegistered, ShippedListing } from "./service-listing.ts";
import { ExtraInstaller } from "./install/extra-installer.ts";
import { createStdioProvider, type StdioProviderDeps } from "./stdio-provider.ts";
import type { ServiceServerOptions } from "./services.ts";

export interface ServiceProviderDeps extends StdioProviderDeps {
  readonly options: ServiceServerOptions;
  readonly models: Models;
  /** Variables of the hub's own environment. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Creates a service of the package, with its shipped list and access to the configured language model. */
export function createServiceProvider({ models, variables, ...deps }: ServiceProviderDeps): Provider {
  const { service, env, ...options } = deps.options;
  const passed = Object.entries(variables).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && service.reads.some((beginning) => entry[0].startsWith(beginning)),
  );
  return createStdioProvider({
    ...deps,
    ...(service.extras.length > 0 && { installer: new ExtraInstaller(service.extras, variables) }),
    options: {
      ...options,
      env: {
        ...Object.fromEntries(passed),
        ...env,
        ...(service.embedding && embeddingVariables(service.embedding, variables)),
      },
    },
    listingStore: new ShippedListing(service.name),
    adapter: { listing: asRegistered, call: (call) => new ServiceCall(call, models) },
  });
}

/**
 * Key of `_meta` for the remaining time of the call, so that a service that takes longer can report that before it is
 * cancelled.
 */
const REMAINING = "toolyard/remaining-ms";
const SAMPLING = "sampling/createMessage";

/**
 * A call of a service that may use the configured language model. If no model is configured, the request is sent to the
 * caller, if the caller supports it.
 */
class ServiceCall extends BuiltCall implements ResolvedCall {
  readonly record: ResolvedCall["record"];
  override readonly client: ResolvedCall["client"];
  declare readonly meta: ResolvedCall["meta"];
  readonly #call: ResolvedCall;
  readonly #generate: Models["generateText"];

  constructor(call: ResolvedCall, models: Models) {
    const generate = call.models?.generateText ?? models.generateText;
    super(call, call, generate ? { relaysInput: false } : {});
    this.#call = call;
    this.#generate = generate;
    this.record = call.record;
    // The value is computed when it is sent, because starting the service first may use some of the time.
    Object.defineProperty(this, "meta", { get: () => withRemaining(call) });
    const { client } = call;
    this.client = generate ? { ...client, capabilities: { ...client.capabilities, sampling: {} } } : client;
  }

  override get signal(): AbortSignal {
    return this.#call.signal;
  }

  override async ask(ask: ServerRequest, signal: AbortSignal = this.signal): Promise<JsonObject> {
    if (ask.method !== SAMPLING || !this.#generate) return super.ask(ask, signal);
    const prompt = textOf(ask.params["messages"]);
    if (prompt === "") throw new FailError(fail("invalid_params", "A language model receives text only."));
    const system = stringMember(ask.params, "systemPrompt");
    const maxTokens = ask.params["maxTokens"];
    const { text } = await this.#generate(
      {
        prompt,
        ...(system === undefined ? {} : { system }),
        ...(typeof maxTokens === "number" ? { maxTokens } : {}),
      },
      signal,
    );
    return { role: "assistant", model: "configured", stopReason: "endTurn", content: { type: "text", text } };
  }
}

function withRemaining({ meta, deadline }: ResolvedCall): ResolvedCall["meta"] {
  const ms = Math.round((deadline?.endsAt ?? Infinity) - performance.now());
  return ms < Infinity ? { ...meta, [REMAINING]: ms } : meta;
}

/** Joins the texts of messages, one per line. */
function textOf(messages: unknown): string {
  if (!Array.isArray(messages)) return "";
  return messages
    .flatMap((message: unknown) => {
      const content = isJsonObject(message) ? message["content"] : undefined;
      return Array.isArray(content) ? content : [content];
    })
    .flatMap((block: unknown) => (isJsonObject(block) ? (stringMember(block, "text") ?? []) : []))
    .join("\n\n");
}

import type { LoadedLanguageModel } from "../models/given-model.ts";

/** Vendor whose rules apply to tools and results. Any server with OpenAI's interface counts as `compatible`. */
export type Vendor = "openai" | "anthropic" | "mistral" | "google" | "compatible";

/** Returns the vendor, from the provider name of an AI SDK model, such as `openai.responses`. */
export function vendorOf({ provider }: Pick<LoadedLanguageModel, "provider">): Vendor {
  if (/(?:^|\.)anthropic\b|^vertex\.anthropic/.test(provider)) return "anthropic";
  if (/^google\b|^vertex\b|generative-ai/.test(provider)) return "google";
  if (provider.startsWith("mistral")) return "mistral";
  return /^(?:azure[.-])?openai\b/.test(provider) ? "openai" : "compatible";
}

/** Returns the media types that a vendor accepts in a tool result, through the AI SDK. */
export function mediaInResults({ provider }: Pick<LoadedLanguageModel, "provider">): RegExp {
  const vendor = vendorOf({ provider });
  if (vendor === "anthropic" || (vendor === "openai" && provider.endsWith(".responses")))
    return /^image\/(?:png|jpeg|gif|webp)$|^application\/pdf$/;
  return vendor === "google" ? /^image\/|^application\/pdf$|^audio\// : /(?!)/;
}

/** Returns the media types that a vendor accepts in a user message. Used if the vendor accepts no media in results. */
export function mediaInMessages({ provider }: Pick<LoadedLanguageModel, "provider">, always: boolean): RegExp {
  return vendorOf({ provider }) === "openai" || always ? /^image\/(?:png|jpeg|gif|webp)$|^application\/pdf$/ : /(?!)/;
}

import type * as anthropic from "@ai-sdk/anthropic";
import type * as google from "@ai-sdk/google";
import type * as mistral from "@ai-sdk/mistral";
import type * as openai from "@ai-sdk/openai";
import type * as compatible from "@ai-sdk/openai-compatible";
import type * as ai from "ai";
import { importExtra } from "../extras/import-extra.ts";

/**
 * The AI SDK and its packages by vendor, each loaded at first use. They belong to the extra `models`. If it is not
 * installed, these functions reject with a `FailError` that names the command to install it.
 */
export const PACKAGES = {
  sdk: (purpose: string) => load<typeof ai>("ai", purpose),
  openai: (purpose: string) => load<typeof openai>("@ai-sdk/openai", purpose),
  anthropic: (purpose: string) => load<typeof anthropic>("@ai-sdk/anthropic", purpose),
  mistral: (purpose: string) => load<typeof mistral>("@ai-sdk/mistral", purpose),
  google: (purpose: string) => load<typeof google>("@ai-sdk/google", purpose),
  compatible: (purpose: string) => load<typeof compatible>("@ai-sdk/openai-compatible", purpose),
} as const;

function load<T>(specifier: string, purpose: string): Promise<T> {
  return importExtra<T>("models", specifier, { purpose });
}

import { installed } from "../core/optional-package.ts";

/**
 * The AI SDK and its packages by vendor, each loaded with the first who asks. They may have been left out: then these
 * reject with a `FailError` that names the package, what it is wanted for, and how it is installed.
 */
export const PACKAGES = {
  sdk: (purpose: string) => installed("ai", purpose, import("ai")),
  openai: (purpose: string) => installed("@ai-sdk/openai", purpose, import("@ai-sdk/openai")),
  anthropic: (purpose: string) => installed("@ai-sdk/anthropic", purpose, import("@ai-sdk/anthropic")),
  mistral: (purpose: string) => installed("@ai-sdk/mistral", purpose, import("@ai-sdk/mistral")),
  google: (purpose: string) => installed("@ai-sdk/google", purpose, import("@ai-sdk/google")),
  compatible: (purpose: string) => installed("@ai-sdk/openai-compatible", purpose, import("@ai-sdk/openai-compatible")),
} as const;

import type { ModelProviderKind } from "./kinds.ts";

/** One provider, complete. A missing key is no error before a model is asked for. */
export interface ModelProvider {
  readonly name: string;
  readonly kind: ModelProviderKind;
  /** As the AI SDK wants it, without a slash at its end; absent: the SDK's own. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Variables where a key was looked for; empty when none is needed. */
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly api: "responses" | "chat";
}

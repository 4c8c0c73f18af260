/**
 * A language model of the AI SDK itself, not its name, as far as this package looks into it. Written out for the same
 * reason as `agent/messages.ts`: declarations must compile where the SDK is left out.
 */
export interface LoadedLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly doGenerate: (options: never) => PromiseLike<unknown>;
  readonly doStream: (options: never) => PromiseLike<unknown>;
}

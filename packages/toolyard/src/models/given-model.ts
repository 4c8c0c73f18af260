/**
 * The members of an AI SDK language model that this package uses. Declared here, because the package's types must
 * compile without the SDK.
 */
export interface LoadedLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly doGenerate: (options: never) => PromiseLike<unknown>;
  readonly doStream: (options: never) => PromiseLike<unknown>;
}

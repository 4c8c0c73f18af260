import type { LanguageModel } from "ai";
import type { LoadedLanguageModel } from "./given-model.ts";

/** The model as the SDK's functions take it; whether they know its version is theirs to say. */
export function toSdkModel(model: LoadedLanguageModel): LanguageModel {
  return model as LanguageModel;
}

import type { LanguageModel } from "ai";
import type { LoadedLanguageModel } from "./given-model.ts";

/** Returns the model with the SDK's type; the SDK checks its version. */
export function toSdkModel(model: LoadedLanguageModel): LanguageModel {
  return model as LanguageModel;
}

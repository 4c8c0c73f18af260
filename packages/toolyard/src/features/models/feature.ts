import { Type } from "../../core/options/option-schema.ts";
import { MODELS as MODELS_KEY, VARIABLES } from "../../core/services.ts";
import { TRACING } from "../../core/ports/tracing.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { ModelsSchema, resolveModels, type ModelsConfig } from "../../models/options.ts";
import { LiveModels } from "./live-models.ts";

export interface ModelsReads {
  readonly models?: ModelsConfig;
}

/** Feature: language models and image models, for tools and for the agent. */
export const MODELS = defineFeature({
  name: "models",
  schema: { models: Type.Optional(ModelsSchema) },
  uses: [VARIABLES, TRACING],
  provides: [MODELS_KEY],
  // Models are loaded on demand, so this check reports errors when a configuration is applied.
  check: ({ models }: ModelsReads) => void resolveModels(models),
  start: ({ variables, tracing }, config: () => ModelsReads) => {
    const models = new LiveModels(() => config().models, variables, tracing);
    return { services: { models }, close: () => models.close() };
  },
});

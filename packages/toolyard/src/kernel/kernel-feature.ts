import { CatalogSchema } from "../catalog/options.ts";
import { Type } from "../core/options/option-schema.ts";
import { LimitsSchema } from "../pipeline/options.ts";
import { defineFeature } from "./feature.ts";

/** Feature with the sections of the configuration that the kernel itself reads. */
export const KERNEL = defineFeature({
  name: "kernel",
  schema: { limits: Type.Optional(LimitsSchema), catalog: Type.Optional(CatalogSchema) },
});

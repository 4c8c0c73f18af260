import { READINESS as READINESS_ENDPOINT } from "../../endpoints/readiness/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";

/** Feature: `GET /readyz`. */
export const READINESS = defineFeature({ name: "readiness", endpoints: [READINESS_ENDPOINT] });

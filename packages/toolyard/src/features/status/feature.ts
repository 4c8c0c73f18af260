import { STATUS as STATUS_ENDPOINT } from "../../endpoints/status/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";

/** Feature: `GET /status`. */
export const STATUS = defineFeature({ name: "status", endpoints: [STATUS_ENDPOINT] });

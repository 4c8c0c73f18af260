import { Type } from "../../core/options/option-schema.ts";
import { HUB, LOGGER, STARTED_AT } from "../../core/services.ts";
import type { Refusal } from "../../http/answer/refusal.ts";
import { STATE } from "../../state/ports/store.ts";
import { defineEndpoint } from "../endpoint.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { READY_PATH } from "../paths.ts";
import { READINESS_OPTION_SCHEMAS, resolveReadiness } from "./options.ts";

/** Endpoint `GET /readyz`. The listener itself serves `/healthz`. */
export const READINESS = defineEndpoint({
  schema: { server: Type.Optional(Type.Object(READINESS_OPTION_SCHEMAS)) },
  paths: [READY_PATH],
  uses: [HUB, LOGGER, STARTED_AT, STATE],
  resolve: ({ server }) => resolveReadiness(server),
  open: async (options, services) =>
    new LateEndpoint({
      places: [{ methods: ["GET", "HEAD"], path: READY_PATH, isOpen: true, isAtRoot: true }],
      refusalBody: refusalText,
      load: async () => new (await import("./readiness-endpoint.ts")).ReadinessEndpoint({ ...options, ...services }),
    }),
});

/** Formats a refusal. The listener refuses with 503 while it closes. */
function refusalText({ status, message }: Refusal): string {
  return JSON.stringify(status === 503 ? { status: "stopping" } : { error: message });
}

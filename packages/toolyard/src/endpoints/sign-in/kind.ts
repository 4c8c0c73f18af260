import { CALLBACK_PATH, CLIENT_DOCUMENT_PATH, SIGN_IN_PATH } from "../../core/ports/sign-in-coordinator.ts";
import { REDACT, SIGN_INS } from "../../core/services.ts";
import type { RoutePlace } from "../../http/router.ts";
import { defineEndpoint } from "../endpoint.ts";
import { LateEndpoint } from "../late-endpoint.ts";

/** Endpoint of the pages for users who sign in to upstream servers. */
export const SIGN_IN = defineEndpoint({
  schema: {},
  paths: [SIGN_IN_PATH, CALLBACK_PATH, CLIENT_DOCUMENT_PATH],
  uses: [SIGN_INS, REDACT],
  resolve: () => ({}),
  open: async (_options, services) =>
    new LateEndpoint({
      places: SIGN_IN_PLACES,
      load: async () => new (await import("./sign-in-endpoint.ts")).SignInEndpoint(services),
    }),
});

// Requests of these paths carry no token of the hub; their parameters identify the sign-in.
const SIGN_IN_PLACES: readonly RoutePlace[] = [
  { methods: ["GET"], path: CLIENT_DOCUMENT_PATH, isOpen: true },
  { methods: ["GET"], path: CALLBACK_PATH, isOpen: true },
  { methods: ["GET", "POST"], path: `${SIGN_IN_PATH}/*`, isOpen: true },
  { methods: ["GET", "POST"], path: SIGN_IN_PATH },
];

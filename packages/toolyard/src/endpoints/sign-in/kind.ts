import { CALLBACK_PATH, CLIENT_DOCUMENT_PATH, SIGN_IN_PATH } from "../../core/ports/sign-in-coordinator.ts";
import { REDACT, SIGN_INS } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";

/** Endpoint of the pages for users who sign in to upstream servers. */
export const SIGN_IN = defineEndpoint({
  schema: {},
  paths: [SIGN_IN_PATH, CALLBACK_PATH, CLIENT_DOCUMENT_PATH],
  uses: [SIGN_INS, REDACT],
  resolve: () => ({}),
  open: async (_options, services) => new (await import("./sign-in-endpoint.ts")).SignInEndpoint(services),
});

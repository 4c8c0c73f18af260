import { AuthSchema, resolveAuth } from "../../auth/options.ts";
import { AUTH_SERVER } from "../../auth/services.ts";
import { Type } from "../../core/options/option-schema.ts";
import { LOGGER } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";

/** Endpoint of the authorization server and its pages, in the mode `builtin`. */
export const AUTH_ENDPOINT = defineEndpoint({
  // The endpoint reads `[auth]`, so that a change of this section opens the endpoints again.
  schema: { auth: Type.Optional(AuthSchema) },
  paths: [],
  uses: [AUTH_SERVER, LOGGER],
  resolve: ({ auth }) => (resolveAuth(auth).builtin ? {} : undefined),
  open: async (_options, { authServer, logger }) =>
    new (await import("./auth-endpoint.ts")).AuthEndpoint(authServer(), logger),
});

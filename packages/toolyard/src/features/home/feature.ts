import { Type } from "../../core/options/option-schema.ts";
import { ACCESS, HUB, REDACT, SIGN_INS, STARTED_AT } from "../../core/services.ts";
import { defineEndpoint } from "../../endpoints/endpoint.ts";
import { resolveRest, RestSchema } from "../../endpoints/rest/options.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { HomeEndpoint } from "./home-endpoint.ts";

/** Endpoint of the page for browsers at `/`. */
const HOME_PAGE = defineEndpoint({
  // The endpoint reads `[rest]`, because its page links to the description of REST.
  schema: { rest: Type.Optional(RestSchema) },
  paths: [],
  uses: [HUB, STARTED_AT, REDACT, SIGN_INS, ACCESS],
  resolve: ({ rest }) => {
    const { enabled, hasDescription, basePath } = resolveRest(rest);
    return { hasDocs: enabled && hasDescription, ...(enabled && { restPath: basePath }) };
  },
  open: async ({ hasDocs, restPath }, { hub, startedAt, redact, signIns, access }) =>
    new HomeEndpoint({
      hub,
      startedAt,
      redact,
      isGuarded: access.isGuarded,
      signIns,
      hasDocs,
      ...(restPath !== undefined && { restPath }),
      clients: async (endpoint) => (await import("./client-entries.ts")).clientEntries(endpoint, access.isGuarded),
    }),
});

export const HOME = defineFeature({ name: "home", endpoints: [HOME_PAGE] });

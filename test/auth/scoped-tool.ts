import { fail } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { defineFeature } from "../../packages/toolyard/src/kernel/feature.ts";

/** `meta.get_server_status` requires the scopes `status` and `read`. */
export const SCOPED_TOOL = defineFeature({
  name: "scoped-tool",
  start: () => ({
    stages: [
      {
        after: "authorise",
        load: async () => async (state, next) => {
          const requiredScopes = ["status", "read"];
          const { scopes = [] } = state.call.principal.identity ?? {};
          const isAllowed =
            state.found.name !== "meta.get_server_status" || requiredScopes.every((one) => scopes.includes(one));
          return isAllowed ? next(state) : fail("denied", "This tool needs more scopes.", { requiredScopes });
        },
      },
    ],
  }),
});

import { defineEndpoint } from "../endpoint.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { WHOAMI_PATH } from "../paths.ts";

/** Endpoint `GET /whoami`. It has no options: each caller reads its own identity. */
export const WHOAMI = defineEndpoint({
  schema: {},
  paths: [WHOAMI_PATH],
  uses: [],
  resolve: () => ({}),
  open: async () =>
    new LateEndpoint({
      places: [{ methods: ["GET"], path: WHOAMI_PATH }],
      load: async () => new (await import("./whoami-endpoint.ts")).WhoamiEndpoint(),
    }),
});

import { Type } from "../../../packages/toolyard/src/core/options/option-schema.ts";
import { serviceKey } from "../../../packages/toolyard/src/core/service-key.ts";
import { defineEndpoint } from "../../../packages/toolyard/src/endpoints/endpoint.ts";
import { sendJson } from "../../../packages/toolyard/src/http/answer/send.ts";
import { defineFeature } from "../../../packages/toolyard/src/kernel/feature.ts";
import { Approvals } from "./approvals.ts";

const APPROVALS_KEY = serviceKey<Approvals>()("approvals");

interface Reads {
  readonly approvals?: { readonly tools?: readonly string[] };
}

const APPROVALS_ENDPOINT = defineEndpoint({
  schema: {},
  paths: ["/approvals"],
  uses: [APPROVALS_KEY],
  resolve: () => ({}),
  open: async (_options, { approvals }) => ({
    mount: (listener) =>
      listener.route({ methods: ["GET", "POST"], path: "/approvals" }, ({ answer, method, query }) => {
        if (method === "POST") approvals.approve(query.get("tool") ?? "");
        sendJson(answer, 200, JSON.stringify([...approvals.pending]));
      }),
    giveUp: () => {},
    close: () => {},
  }),
});

/** A feature that makes calls of some tools require an approval. */
export const APPROVALS = defineFeature({
  name: "approvals",
  schema: { approvals: Type.Optional(Type.Object({ tools: Type.Optional(Type.Array(Type.String())) })) },
  provides: [APPROVALS_KEY],
  endpoints: [APPROVALS_ENDPOINT],
  start: (_services, config: () => Reads) => {
    const approvals = new Approvals();
    return {
      services: { approvals },
      stages: [
        {
          after: "authorise",
          load: async () => {
            const { approvalStage } = await import("./approvals.ts");
            return approvalStage(approvals, () => config().approvals?.tools ?? []);
          },
        },
      ],
    };
  },
});

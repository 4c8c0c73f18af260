import { Type } from "../../../packages/toolyard/src/core/options/option-schema.ts";
import { serviceKey } from "../../../packages/toolyard/src/core/service-key.ts";
import { defineEndpoint } from "../../../packages/toolyard/src/endpoints/endpoint.ts";
import { defineFeature } from "../../../packages/toolyard/src/kernel/feature.ts";

/** Returns the counters in the text format of Prometheus. */
const METRICS_TEXT = serviceKey<() => string>()("metricsText");

const METRICS_ENDPOINT = defineEndpoint({
  schema: { metrics: Type.Optional(Type.Object({ path: Type.String() })) },
  paths: [],
  uses: [METRICS_TEXT],
  resolve: ({ metrics }) => metrics,
  open: async ({ path }, { metricsText }) => ({
    mount: (listener) =>
      listener.route({ methods: ["GET"], path }, ({ answer }) =>
        answer.send(200, ["content-type", "text/plain; version=0.0.4"], metricsText()),
      ),
    giveUp: () => {},
    close: () => {},
  }),
});

/** Counts calls by source and outcome. */
export const METRICS = defineFeature({
  name: "metrics",
  provides: [METRICS_TEXT],
  endpoints: [METRICS_ENDPOINT],
  start: () => {
    const calls = new Map<string, number>();
    return {
      onCall: ({ source = "none", kind }) => {
        const labels = `source="${source}",outcome="${kind}"`;
        calls.set(labels, (calls.get(labels) ?? 0) + 1);
      },
      services: {
        metricsText: () =>
          Array.from(calls, ([labels, count]) => `toolyard_calls_total{${labels}} ${count}\n`).join(""),
      },
    };
  },
});

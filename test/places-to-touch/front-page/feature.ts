import { Type } from "../../../packages/toolyard/src/core/options/option-schema.ts";
import { ACCESS, HUB, REDACT } from "../../../packages/toolyard/src/core/services.ts";
import { permissionOf } from "../../../packages/toolyard/src/core/ports/rights.ts";
import { defineEndpoint, type Endpoint, type SharedPage } from "../../../packages/toolyard/src/endpoints/endpoint.ts";
import type { Mountable } from "../../../packages/toolyard/src/http/listening/listener.ts";
import { sendJson } from "../../../packages/toolyard/src/http/answer/send.ts";
import { defineFeature } from "../../../packages/toolyard/src/kernel/feature.ts";

const PATH = "/front";

/** A page for browsers at `/front`, to which `/` redirects, and the hub's sources as JSON. */
const FRONT_PAGE_ENDPOINT = defineEndpoint({
  schema: {
    front_page: Type.Optional(Type.Object({ enabled: Type.Optional(Type.Boolean({ default: false })) })),
  },
  paths: [PATH, `${PATH}/sources`],
  uses: [HUB, REDACT, ACCESS],
  resolve: ({ front_page: options }) => (options?.enabled === true ? options : undefined),
  open: (_options, { hub, redact, access }): Promise<Endpoint> => {
    const toFront: SharedPage = {
      path: "/",
      wants: (exchange) => exchange.method === "GET" && exchange.header("accept")?.includes("text/html") === true,
      serve: ({ answer, baseUrl }) => answer.send(302, ["location", `${baseUrl}${PATH}`], ""),
    };
    const mount = (listener: Mountable): void => {
      listener.route({ methods: ["GET"], path: PATH }, ({ answer }) =>
        answer.send(200, ["content-type", "text/html"], `<!doctype html><title>Console (${access.mode})</title>`),
      );
      listener.route({ methods: ["GET"], path: `${PATH}/sources` }, ({ answer, principal }) => {
        const seen = permissionOf(principal.rights).isNarrowed ? [] : hub.sources();
        sendJson(answer, 200, redact(JSON.stringify(seen.map(({ source }) => source.id))));
      });
    };
    return Promise.resolve({ mount, giveUp: () => {}, close: () => {}, pages: [toFront] });
  },
});

export const FRONT_PAGE = defineFeature({ name: "front-page", endpoints: [FRONT_PAGE_ENDPOINT] });

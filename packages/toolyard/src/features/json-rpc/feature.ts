import { GET_HUB, LOGGER } from "../../core/services.ts";
import { JSON_RPC as JSON_RPC_ENDPOINT } from "../../endpoints/jsonrpc/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { describeServer, type BuiltinConfig } from "../../providers/builtin/options.ts";

/** Feature: the JSON-RPC dialect, in which a tool's name is a method. */
export const JSON_RPC = defineFeature({
  name: "json-rpc",
  uses: [GET_HUB, LOGGER],
  endpoints: [JSON_RPC_ENDPOINT],
  start: ({ getHub, logger }, config: () => { readonly builtin?: BuiltinConfig }) => ({
    dialects: async () => {
      const { JsonRpcDialect } = await import("../../endpoints/jsonrpc/json-rpc-dialect.ts");
      const describe = (): string => describeServer(config().builtin);
      return [new JsonRpcDialect({ hub: getHub().port, logger, describeServer: describe })];
    },
  }),
});

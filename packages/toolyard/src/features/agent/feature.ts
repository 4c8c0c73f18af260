import { AgentSchema } from "../../agent/options.ts";
import { Type } from "../../core/options/option-schema.ts";
import { CHAT, GET_HUB, LOGGER, VARIABLES } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LiveChat, type ChatReads } from "./live-chat.ts";

/** Agent: a language model that calls the hub's tools. */
export const AGENT = defineFeature({
  name: "agent",
  schema: { agent: Type.Optional(AgentSchema) },
  uses: [GET_HUB, LOGGER, VARIABLES],
  provides: [CHAT],
  start: ({ getHub, logger, variables }, config: () => ChatReads) => {
    const chat = new LiveChat({ getHub, config, logger }, variables);
    return { services: { chat: () => (chat.isConfigured ? chat : undefined) } };
  },
});

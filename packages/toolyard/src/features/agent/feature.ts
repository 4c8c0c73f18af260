import { AgentSchema } from "../../agent/options.ts";
import { Late } from "../../core/late.ts";
import type { Chat } from "../../core/ports/chat.ts";
import { Type } from "../../core/options/option-schema.ts";
import { CHAT, GET_HUB, LOGGER, VARIABLES } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import type { ChatReads, LiveChat } from "./live-chat.ts";

/** Agent: a language model that calls the hub's tools. */
export const AGENT = defineFeature({
  name: "agent",
  schema: { agent: Type.Optional(AgentSchema) },
  uses: [GET_HUB, LOGGER, VARIABLES],
  provides: [CHAT],
  start: ({ getHub, logger, variables }, config: () => ChatReads) => {
    const live = new Late<LiveChat>(
      async () => new (await import("./live-chat.ts")).LiveChat({ getHub, config, logger }, variables),
    );
    const chat: Chat = { reply: async (turn) => (await live.get()).reply(turn) };
    return { services: { chat: () => (config().models?.language === undefined ? undefined : chat) } };
  },
});

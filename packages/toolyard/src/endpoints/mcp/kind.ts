import { Type } from "../../core/options/option-schema.ts";
import { defineDoor } from "../door.ts";
import { MCP_PATH, MESSAGES_PATH, SSE_PATH } from "../paths.ts";
import { LegacySessionSchema, resolveLegacySessions } from "./legacy/options.ts";
import { MCP_OPTION_SCHEMAS, resolveMcpDoor } from "./options.ts";

/** MCP at `/mcp`, `/sse` and `/messages`. Other doors speak it too, so it is there before any of them is opened. */
export const MCP = defineDoor({
  schema: {
    server: Type.Optional(Type.Object({ ...MCP_OPTION_SCHEMAS, sessions: Type.Optional(LegacySessionSchema) })),
  },
  paths: [MCP_PATH, SSE_PATH, MESSAGES_PATH],
  resolve: ({ server = {} }) => ({ ...resolveMcpDoor(server), sessions: resolveLegacySessions(server.sessions) }),
  open: (_options, { mcp }) => Promise.resolve(mcp),
});

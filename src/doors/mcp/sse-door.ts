import type { Listener } from "../../http/listener.ts";
import { legacyExchange } from "./http-door.ts";
import { parseBody, sendError } from "./json-body.ts";
import type { LegacySse } from "./legacy/sse.ts";

/** Mounts HTTP+SSE of 2024-11-05: `GET /sse` opens the stream, `POST /messages` takes what the client sends. */
export function mountSse(listener: Listener, sse: Pick<LegacySse, "open" | "post">): void {
  listener.route(["GET"], "/sse", (request, response, context) => sse.open(legacyExchange(request, response, context)));
  listener.route(["POST"], "/messages", async (request, response, context) => {
    const parsed = parseBody(await context.readBody(), context.maxJsonDepth);
    if (!parsed.ok) return sendError(response, null, parsed.code, parsed.message);
    sse.post(legacyExchange(request, response, context), parsed.value);
  });
}

import type { HubPort, SourceReport } from "../../core/hub-port.ts";
import type { JsonObject } from "../../core/json.ts";
import { permissionOf } from "../../core/rights.ts";
import type { Mountable } from "../../http/listener.ts";
import { Refusal } from "../../http/refusal.ts";
import { sendJson } from "../../http/send.ts";

/** What the status page shows beside the sources. */
export interface StatusFacts {
  readonly version: string;
  readonly startedAt: Date;
}

/**
 * `GET /status`: a running hub's sources with their state, last error, last stderr lines and restarts, as JSON. It
 * passes the listener's checks like everything else, and a caller whose rights are narrowed is refused: errors may name
 * what such a caller should not know.
 */
export function mountStatus(
  listener: Mountable,
  hub: HubPort,
  facts: StatusFacts,
  redact: (text: string) => string,
): void {
  listener.route(["GET"], "/status", ({ answer, principal }) => {
    if (permissionOf(principal.rights).isNarrowed)
      throw new Refusal(403, "The status of this hub is shown to callers without narrowed rights only.");
    const body = redact(JSON.stringify(statusBody(hub.sources(), facts)));
    sendJson(answer, 200, body, ["cache-control", "no-store"]);
  });
}

function statusBody(sources: readonly SourceReport[], { version, startedAt }: StatusFacts): JsonObject {
  return {
    version,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    sources: sources.map(({ source, status, tools, resources, prompts, problems }) => ({
      id: source.id,
      kind: source.kind,
      ...status,
      tools,
      resources,
      prompts,
      problems: problems.map(({ subject, message }) => ({ subject, message })),
    })),
  };
}

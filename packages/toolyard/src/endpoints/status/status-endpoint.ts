import { safeJson } from "../../core/text/hidden-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { profileCounts } from "../../core/ports/profile-counts.ts";
import type { Profiles } from "../../core/ports/profiles.ts";
import type { MadeHub } from "../../core/services.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { JSON_CONTENT } from "../../http/answer/send.ts";
import { VERSION } from "../../core/version.ts";
import type { HubPort, SourceReport } from "../../core/ports/hub-port.ts";
import type { Endpoint, TlsReport } from "../endpoint.ts";
import { STATUS_PATH } from "../paths.ts";

export interface StatusParts {
  readonly hub: Pick<HubPort, "sources">;
  readonly startedAt: Date;
  readonly redact: (text: string) => string;
  readonly tls: (() => TlsReport) | undefined;
  readonly profiles: Pick<Profiles, "all">;
  readonly getHub: () => Pick<MadeHub, "port" | "tools">;
}

/**
 * `GET /status`: a running hub's sources with their state, last error, last stderr lines and restarts, and what its
 * profiles have, as JSON. The listener's checks apply, and a caller with narrowed rights is refused: errors may name
 * things that such a caller must not know.
 */
export class StatusEndpoint implements Endpoint {
  readonly #parts: StatusParts;

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  mount(listener: Mountable): void {
    listener.route({ methods: ["GET"], path: STATUS_PATH }, async ({ answer, principal }) => {
      if (permissionOf(principal.rights).isNarrowed)
        throw new Refusal(403, "The status of this hub is shown to callers without narrowed rights only.");
      const { hub, startedAt, redact, tls, profiles, getHub } = this.#parts;
      const counts = await profileCounts(profiles, getHub());
      const status = { ...statusBody(hub.sources(), startedAt), profiles: counts, ...(tls && { tls: tls() }) };
      const body = safeJson(redact(JSON.stringify(status)));
      answer.send(200, ["cache-control", "no-store", ...JSON_CONTENT], body);
    });
  }

  giveUp(): void {}

  close(): void {}
}

function statusBody(sources: readonly SourceReport[], startedAt: Date): JsonObject {
  return {
    version: VERSION,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    sources: sources.map(({ source, status, tools, resources, prompts, problems }) => ({
      id: source.id,
      kind: source.kind,
      ...status,
      tools,
      resources,
      prompts,
      problems: problems.map(({ subject, message, renamed, repaired, unsupported }) => ({
        subject,
        message,
        ...(renamed && { renamed }),
        ...(repaired && { repaired }),
        ...(unsupported && { unsupported }),
      })),
    })),
  };
}

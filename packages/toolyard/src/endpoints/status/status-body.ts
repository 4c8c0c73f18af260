import { safeJson } from "../../core/text/hidden-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { profileCounts } from "../../core/ports/profile-counts.ts";
import type { HubControl } from "../../core/ports/hub-control.ts";
import type { Profiles } from "../../core/ports/profiles.ts";
import type { MadeHub } from "../../core/services.ts";
import { VERSION } from "../../core/version.ts";
import type { HubContent, SourceReport } from "../../core/ports/hub-port.ts";
import type { TlsReport } from "../endpoint.ts";

export interface StatusParts {
  readonly hub: Pick<HubContent, "sources">;
  readonly startedAt: Date;
  readonly redactFacts: (facts: JsonObject) => JsonObject;
  readonly tls?: (() => TlsReport) | undefined;
  readonly profiles: Pick<Profiles, "all">;
  readonly getHub: () => Pick<MadeHub, "port" | "tools">;
  readonly hubControl: () => Pick<HubControl, "problem">;
}

/**
 * Returns the status of a running hub as JSON without secrets: the sources with their state, last error, last stderr
 * lines and restarts, the content of the profiles, the reason why a changed configuration was not applied, and the
 * additional members `more`.
 */
export async function statusJson(parts: StatusParts, more: JsonObject = {}): Promise<string> {
  const { hub, startedAt, redactFacts, tls, profiles, getHub, hubControl } = parts;
  const counts = await profileCounts(profiles, getHub());
  const { problem } = hubControl();
  const status = {
    ...statusBody(hub.sources(), startedAt),
    profiles: counts,
    ...(problem !== undefined && { configurationProblem: problem }),
    ...(tls && { tls: tls() }),
    ...more,
  };
  return safeJson(JSON.stringify(redactFacts(status)));
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
      problems: problems.map(({ subject, message, renamed, repaired }) => ({
        subject,
        message,
        ...(renamed && { renamed }),
        ...(repaired && { repaired }),
      })),
    })),
  };
}

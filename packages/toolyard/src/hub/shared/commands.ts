import { GET_HUB, PROFILES, REDACT, STARTED_AT } from "../../core/services.ts";
import { statusJson } from "../../endpoints/status/status-body.ts";
import { getService } from "../../kernel/start-features.ts";
import type { Hub } from "../hub.ts";

export interface SharedFacts {
  readonly clients: number;
  /** The process also serves HTTP. */
  readonly isBesideHttp: boolean;
}

/**
 * Returns the status of a shared hub as one line of JSON, complete: only the user of the hub can open its socket, so no
 * rights are checked.
 */
export async function sharedStatus({ port, config, services }: Hub, facts: SharedFacts): Promise<string> {
  const parts = {
    hub: port,
    startedAt: getService(services, STARTED_AT),
    redact: getService(services, REDACT),
    profiles: getService(services, PROFILES),
    getHub: getService(services, GET_HUB),
  };
  return statusJson(parts, { shared: { pid: process.pid, files: config.files, ...facts } });
}

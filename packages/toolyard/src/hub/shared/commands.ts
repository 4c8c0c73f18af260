import { CALL_STATISTICS, GET_HUB, HUB_CONTROL, PROFILES, REDACT_FACTS, STARTED_AT } from "../../core/services.ts";
import { statusJson } from "../../endpoints/status/status-body.ts";
import { getService } from "../../kernel/start-features.ts";
import type { Hub } from "../hub.ts";
import type { HubCommand } from "./greeting.ts";

export interface SharedHubFacts {
  readonly clients: number;
  /** True if the process of the shared hub also serves HTTP. */
  readonly isBesideHttp: boolean;
}

/**
 * Returns the complete answer to a command of the user as one line of JSON. No rights are checked, because only the
 * user of the hub can open its socket.
 */
export async function commandAnswer(hub: Hub, command: HubCommand, facts: SharedHubFacts): Promise<string> {
  const { config, services } = hub;
  const more = { shared: { pid: process.pid, files: config.files, ...facts } };
  const known = { startedAt: getService(services, STARTED_AT), redactFacts: getService(services, REDACT_FACTS) };
  if (command === "calls") {
    const { statisticsJson } = await import("../../endpoints/statistics/statistics-body.ts");
    return statisticsJson({ ...known, callStatistics: getService(services, CALL_STATISTICS) }, more);
  }
  const profiles = getService(services, PROFILES);
  const [getHub, hubControl] = [getService(services, GET_HUB), getService(services, HUB_CONTROL)];
  return statusJson({ ...known, hub: hub.port, profiles, getHub, hubControl }, more);
}

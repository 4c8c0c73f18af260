import type { LoadedHubConfig } from "./schema.ts";
import type { Logger } from "../core/ports/ports.ts";

/** Logs ignored settings, and sources that cannot be started. */
export function logConfig({ warnings, unusable }: LoadedHubConfig, logger: Logger): void {
  for (const warning of warnings) logger.warning(warning);
  for (const { id, reason } of unusable) logger.warning(`${id} is left out: ${reason}`, { source: id });
}

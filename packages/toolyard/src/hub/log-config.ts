import type { LoadedHubConfig } from "./schema.ts";
import type { Logger } from "../core/ports/ports.ts";

/** Says what a configuration holds that is ignored, and which sources it cannot start. */
export function logConfig({ warnings, unusable }: LoadedHubConfig, logger: Logger): void {
  for (const warning of warnings) logger.warning(warning);
  for (const { id, reason } of unusable) logger.warning(`${id} is left out: ${reason}`, { source: id });
}

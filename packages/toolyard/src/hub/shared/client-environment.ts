import { within } from "../../core/timing/wait.ts";
import { enrichment } from "../../process/server-environment.ts";
import type { Hub } from "../hub.ts";

/** Milliseconds for a new attempt to start a server, including downloads. */
const RETRY_MS = 600_000;
/** Milliseconds that a client waits for servers that may start because of its environment. */
const JOIN_MS = 2000;

type Variables = Record<string, string | undefined>;

/**
 * Adds to this process the environment variables that a joining client has and the hub lacks: folders of PATH, proxies,
 * certificates, settings of package managers. Existing values do not change, so that a client with a smaller
 * environment cannot harm a server. Restarts servers that are down, because their program may be found now. Resolves
 * when they have started, or after a time limit.
 */
export async function adoptEnvironment(
  { sources, logger }: Pick<Hub, "sources" | "logger">,
  environment: Readonly<Record<string, string>>,
  own: Variables = process.env,
): Promise<void> {
  const changes = enrichment(own, environment);
  const names = Object.keys(changes);
  if (names.length === 0) return;
  Object.assign(own, changes);
  logger.info("A client has environment variables that this hub lacked; servers get them at their next start.", {
    variables: names,
  });
  const down = sources.providers.filter((provider) => provider.status().state === "down");
  // The state and the log of a server contain its failure.
  const attempts = down.map((provider) => provider.refresh?.(AbortSignal.timeout(RETRY_MS)).catch(() => {}));
  await within(Promise.all(attempts), JOIN_MS);
}

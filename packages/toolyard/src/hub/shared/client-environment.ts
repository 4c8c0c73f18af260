import type { Provider } from "../../core/sources/provider.ts";
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
 * environment cannot harm a server. Servers that are down are started again, because their program may be found now;
 * running servers that no client has called are restarted with the new variables. Resolves when they have started, or
 * after a time limit.
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
  logger.info(
    "A client has environment variables that this hub lacked. Servers that were called get them at their next start, " +
      "all others now.",
    { variables: names },
  );
  // The result of an attempt is ignored, because the state and the log of the server contain its failure.
  const attempts = sources.providers.map((provider) => restart(provider).catch(() => {}));
  await within(Promise.all(attempts), JOIN_MS);
}

async function restart(provider: Provider): Promise<void> {
  if (provider.status().state === "down") await provider.refresh?.(AbortSignal.timeout(RETRY_MS));
  else await provider.restartUnused?.();
}

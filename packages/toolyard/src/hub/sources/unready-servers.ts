import type { Principal } from "../../core/calls/call.ts";
import { permissionOf, supposedName } from "../../core/ports/rights.ts";
import { factsOf } from "../../core/sources/provider-kinds.ts";
import type { Provider, ProviderStatus } from "../../core/sources/provider.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { firstChars } from "../../core/text/truncate.ts";

interface UnreadyPlaces {
  readonly sources: readonly Provider[];
  /** Separator between a namespace and a name in lists. */
  readonly separator: string;
  isListed(sourceId: string): boolean;
}

/**
 * Stands for the unknown tools of a server that was never listed. A caller with rights to single tools does not match
 * it, so that this caller does not learn about the server.
 */
const ANY_TOOL = "any-tool";
const MAX_SERVERS = 20;
const MAX_REASON_CHARS = 200;

/**
 * Returns a line for each server that is not ready, such as `installing: memory, 12 s` or `down: jira: no such package,
 * 40 s`. A caller with narrowed rights gets the servers with tools that it may use, without the reason, which may
 * contain further names.
 */
export function unreadyServers(
  principal: Principal,
  { sources, separator, isListed }: UnreadyPlaces,
): readonly string[] {
  const permission = permissionOf(principal.rights);
  const lines = sources.flatMap((provider) => {
    const { id, namespace, kind } = provider.source;
    if (!factsOf(kind).oneServer) return [];
    const status = provider.status();
    const state = stateOf(status, isListed(id));
    if (state === undefined) return [];
    if (!permission.permits(supposedName({ namespace, separator, source: id }, ANY_TOOL))) return [];
    const reason = permission.isNarrowed || state !== "down" ? undefined : status.lastError;
    return [`${state}: ${id}${reasonText(reason)}${lastedText(status)}`];
  });
  const more = lines.length - MAX_SERVERS;
  return more > 0 ? [...lines.slice(0, MAX_SERVERS), `and ${more} more`] : lines;
}

/**
 * Returns the state to report. Returns `undefined` for a server that is ready, is disabled, or starts at its first
 * call.
 */
function stateOf({ state, installing }: ProviderStatus, isListed: boolean): string | undefined {
  if (installing) return "installing";
  if (state === "starting") return isListed ? undefined : state;
  if (state === "needs_authorisation") return "sign-in required";
  return state === "down" ? state : undefined;
}

function reasonText(reason: string | undefined): string {
  return reason === undefined
    ? ""
    : `: ${firstChars(reason.replace(/\s+/g, " ").replace(/\.$/, ""), MAX_REASON_CHARS)}`;
}

function lastedText({ installing, since }: ProviderStatus): string {
  const start = Date.parse(installing?.since ?? since ?? "");
  if (Number.isNaN(start)) return "";
  return `, ${formatDuration(Math.max(1000, Math.round((Date.now() - start) / 1000) * 1000))}`;
}

import { Deadline } from "../../core/calls/deadline.ts";
import { isNotThere, type Lookup } from "../../catalog/lookup.ts";
import type { Principal } from "../../core/calls/call.ts";
import type { Cancellation } from "../../core/calls/cancellation.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { Provider } from "../../core/sources/provider.ts";
import type { OutageReport } from "../../core/sources/records.ts";
import { permissionOf, supposedName } from "../../core/ports/rights.ts";
import type { Spellings } from "../../core/names/spelling.ts";
import { nameAfterPrefix } from "./absent-source.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Name that is in no list, and the sources that may have it. */
export interface MissingName {
  readonly name: string;
  readonly principal: Principal;
  readonly providers: readonly Provider[];
  /** Separator between a namespace and a name in lists. */
  readonly separator: string;
  readonly spellings: Spellings;
  isListed(sourceId: string): boolean;
  /** Returns the failure of a source without tools that reports a reason. */
  withheldBy(sourceId: string): Fail | undefined;
}

/** Reason why a name is unknown: a source that may have it was never listed. */
export interface Absence {
  readonly failure: Fail;
  /** Outage report of the only source that could have the name. */
  readonly outage?: OutageReport;
}

/** Milliseconds that a call waits for services that were down when it started. */
const ASK_AGAIN_MS = 10_000;

/**
 * Repeats the lookup of an unlisted name after reconnecting to each source with an outage report that was never listed
 * and may have the name. Sources that still do not answer are reported (M4, M9, C19).
 */
export async function retryAbsentServices(
  missing: Lookup,
  wanted: MissingName,
  { find, cancellation }: { find(): Lookup | Promise<Lookup>; readonly cancellation?: Cancellation },
): Promise<{ readonly lookup: Lookup; readonly absence?: Absence }> {
  if (missing.found || !mayBeAbsent(missing.failure)) return { lookup: missing };
  const services = absentServices(wanted);
  if (services.length === 0) return { lookup: missing };
  const lookup = (await askAgain(services, cancellation)) ? await find() : missing;
  if (lookup.found || !mayBeAbsent(lookup.failure)) return { lookup };
  const near = lookup.failure.details?.["near"];
  const absence = absenceOf(wanted.name, absentServices(wanted), Array.isArray(near) && near.length > 0);
  return { lookup, ...(absence && { absence }) };
}

function mayBeAbsent(failure: Fail): boolean {
  return isNotThere(failure) || failure.details?.["starting"] !== undefined;
}

/**
 * Returns the services that were never listed and may have the tool: those with the prefix of the name, otherwise all.
 * Omits services that the caller's rights exclude.
 */
function absentServices(wanted: MissingName): readonly Provider[] {
  const { name, principal, providers, separator, spellings, isListed } = wanted;
  const permission = permissionOf(principal.rights);
  const named = providers.filter(({ source }) => nameAfterPrefix(source, name, spellings) !== undefined);
  return (named.length > 0 ? named : providers).filter(({ source }) => {
    if (!source.outage || isListed(source.id)) return false;
    const place = { namespace: source.namespace, separator, source: source.id };
    return permission.permits(supposedName(place, nameAfterPrefix(source, name, spellings) ?? name));
  });
}

/** Reconnects to unavailable services, concurrently. Resolves to true if at least one answered. */
async function askAgain(services: readonly Provider[], cancellation: Cancellation | undefined): Promise<boolean> {
  const down = services.filter((service) => DOWN.has(service.status().state));
  if (down.length === 0) return false;
  const deadline = new Deadline({ idleMs: ASK_AGAIN_MS, totalMs: ASK_AGAIN_MS }, undefined, cancellation);
  try {
    const answers = await Promise.allSettled(down.map((service) => service.refresh?.(deadline.signal)));
    return answers.some(({ status }) => status === "fulfilled");
  } finally {
    deadline.clear();
  }
}

const DOWN: ReadonlySet<string> = new Set(["down", "degraded"]);

/**
 * Returns the reason why a name is unknown. Returns `undefined` if all services were listed, or if the name fits a tool
 * of another source better.
 */
function absenceOf(name: string, services: readonly Provider[], hasNear: boolean): Absence | undefined {
  const away = services.flatMap(({ source }) =>
    source.outage ? [{ outage: source.outage, fit: source.outage.fit(name, source) }] : [],
  );
  const best = Math.max(0, ...away.map(({ fit }) => fit));
  const [only, another] = away.filter(({ fit }) => fit === best);
  if (only && !another && !(hasNear && best === 0))
    return { failure: fail("unavailable", only.outage.message), outage: only.outage };
  if (!another || hasNear) return undefined;
  const reports = [...new Set(away.map(({ outage }) => outage.message))].join("; ");
  const shownName = firstChars(name, MAX_NAME_CHARS);
  return { failure: fail("unavailable", `${shownName} is not known while these are unavailable: ${reports}.`) };
}

const MAX_NAME_CHARS = 200;

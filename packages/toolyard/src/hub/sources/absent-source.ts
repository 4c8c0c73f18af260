import { permissionOf, supposedName } from "../../core/ports/rights.ts";
import type { Call } from "../../core/calls/call.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { Installation, Provider, ProviderStatus } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import type { Spellings } from "../../core/names/spelling.ts";

/**
 * Returns the failure for a name of a source that is unavailable and was never listed. The tool may exist, and a model
 * that reads "unknown" would not try again. Returns `undefined` if there is no such source, or if the caller may not
 * use it.
 */
export function absentSource(call: Pick<Call, "target" | "principal">, places: AbsentPlaces): Fail | undefined {
  const provider = namedSource(call, places);
  if (!provider) return undefined;
  const { id } = provider.source;
  const withheld = places.withheldBy(id);
  if (withheld) return withheld;
  const { state, lastError, installing, since } = provider.status();
  if (installing) return installingFailure(id, installing);
  const where = reasonFor(call, lastError);
  if (state === "down" || state === "degraded")
    return fail(
      "unavailable",
      `The source ${id} is not available at the moment, and its tools are not known yet. ${where} ` +
        `${lasted(since)}Try again later.`,
    );
  if (state === "needs_authorisation")
    return fail("needs_authorisation", `The source ${id} requires a sign-in first. ${where}`);
  const isLeftOut = state === "disabled" && lastError !== undefined;
  return isLeftOut
    ? fail("unavailable", `The source ${id} is omitted, because its configuration is incomplete. ${where}`, {
        retryable: false,
      })
    : undefined;
}

function lasted(since: string | undefined): string {
  const start = Date.parse(since ?? "");
  return Number.isNaN(start) ? "" : `This has lasted ${formatDuration(wholeSeconds(start))}. `;
}

function wholeSeconds(start: number): number {
  return Math.max(1000, Math.round((Date.now() - start) / 1000) * 1000);
}

/**
 * Returns the reason of the outage. It is included only for callers without narrowed rights, because it may contain
 * names that other callers must not know.
 */
function reasonFor({ principal }: Pick<Call, "principal">, lastError: string | undefined): string {
  const isLimited = permissionOf(principal.rights).isNarrowed;
  if (isLimited || lastError === undefined) return "The hub's log and status have the reason.";
  return `Reason: ${lastError.endsWith(".") ? lastError : `${lastError}.`}`;
}

/**
 * Returns the failure that replaces a timeout if the call waited for a download: of its tool's source, or of the source
 * that may have the name.
 */
export function lateByInstall(call: Pick<Call, "target" | "principal">, places: DownloadPlaces): Fail | undefined {
  const download = downloadFor(call, places);
  return download && installingFailure(download.id, download.installing);
}

/** Returns a sentence for the caller about the download for which the call waits, or `undefined` if there is none. */
export function downloadText(call: Pick<Call, "target" | "principal">, places: DownloadPlaces): string | undefined {
  const download = downloadFor(call, places);
  if (!download) return undefined;
  const { id, installing } = download;
  const time = downloadTime(installing);
  return `Waiting for the source ${id}: \`${installing.package}\` has been downloading for ${time}.`;
}

interface DownloadPlaces extends AbsentPlaces {
  /** Provider of the call's target. Absent if none was found yet. */
  readonly provider: Provider | undefined;
}

function downloadFor(
  call: Pick<Call, "target" | "principal">,
  { provider, ...places }: DownloadPlaces,
): { readonly id: string; readonly installing: Installation } | undefined {
  const awaited = provider ?? namedSource(call, places);
  const installing = awaited?.status().installing;
  return awaited && installing && { id: awaited.source.id, installing };
}

function downloadTime({ since }: Installation): string {
  return formatDuration(wholeSeconds(Date.parse(since)));
}

/** Returns the reason why a name is not offered, if the name belongs to a disabled source. */
export function whyDisabled(name: string, sources: readonly Provider[], spellings: Spellings): string | undefined {
  const named = sources.filter(({ source }) => nameAfterPrefix(source, name, spellings) !== undefined);
  const off = named.map((provider) => ({ id: provider.source.id, ...provider.status() })).find(isSwitchedOff);
  return off && `the source ${off.id} is disabled: \`toolyard enable ${off.id}\` switches it on`;
}

/**
 * Returns true if the source was disabled by `enabled = false`. A source that was omitted for another reason has that
 * reason as its last error.
 */
function isSwitchedOff({ state, lastError }: ProviderStatus): boolean {
  return state === "disabled" && lastError === undefined;
}

function installingFailure(id: string, installing: Installation): Fail {
  const { package: name, waitsFor } = installing;
  const time = downloadTime(installing);
  return fail(
    "unavailable",
    `The source ${id} is installing: \`${name}\` has been downloading for ${time} (${waitsFor}). ` +
      "Try again in a moment; `toolyard check` waits until it is installed.",
    { retryAfterMs: INSTALL_RETRY_MS, details: { starting: [id], installing: name } },
  );
}

const INSTALL_RETRY_MS = 15_000;

/** Returns the source to which the name belongs, if the source was never listed and the caller may know it. */
function namedSource(
  { target: name, principal }: Pick<Call, "target" | "principal">,
  { sources, separator, spellings, isListed }: AbsentPlaces,
): Provider | undefined {
  const behind = ({ source }: Provider): string | undefined => nameAfterPrefix(source, name, spellings);
  const provider = sources.find((one) => behind(one) !== undefined && !isListed(one.source.id));
  if (!provider) return undefined;
  const { id, namespace } = provider.source;
  const subject = supposedName({ namespace, separator, source: id }, behind(provider)!);
  return permissionOf(principal.rights).permits(subject) ? provider : undefined;
}

interface AbsentPlaces {
  readonly sources: readonly Provider[];
  /** Separator between a namespace and a name in lists. */
  readonly separator: string;
  readonly spellings: Spellings;
  isListed(sourceId: string): boolean;
  /** Returns the failure of a source without tools that reports a reason. */
  withheldBy(sourceId: string): Fail | undefined;
}

/** Returns the name after the source's prefix, if the spelling belongs to this source. */
export function nameAfterPrefix({ id }: Pick<Source, "id">, name: string, spellings: Spellings): string | undefined {
  const reading = spellings.read(name);
  return reading?.owners.has(id) === true ? (reading.rests[0] ?? reading.name) : undefined;
}

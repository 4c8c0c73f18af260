import { Deadline } from "../../core/deadline.ts";
import { isNotThere, type Lookup } from "../../catalog/lookup.ts";
import type { Principal } from "../../core/call.ts";
import type { Cancellation } from "../../core/cancellation.ts";
import { fail, type Fail } from "../../core/outcome.ts";
import type { Provider } from "../../core/provider.ts";
import type { ServiceName, Source } from "../../core/records.ts";
import { permissionOf, supposedName } from "../../core/rights.ts";
import type { Spellings } from "../../core/spelling.ts";
import { behindPrefix } from "./absent-source.ts";
import { firstChars } from "../../core/truncate.ts";

/** A name that no list holds, and where it is looked for. */
export interface Wanted {
  readonly name: string;
  readonly principal: Principal;
  readonly providers: readonly Provider[];
  /** What stands between a namespace and a name where tools are listed. */
  readonly separator: string;
  readonly spellings: Spellings;
  isListed(sourceId: string): boolean;
  /** What is answered for a source that lists nothing of its own, where it says so itself. */
  withheldBy(sourceId: string): Fail | undefined;
}

/** Why a name is not known: the service that has it is away, or one of these. */
export interface Absence {
  readonly failure: Fail;
  /** Present: it is that one's. */
  readonly service?: ServiceName;
}

/** How long a call waits for services that were away when it came. */
const ASK_AGAIN_MS = 10_000;

/**
 * What no list holds may be of a service that was away when lists were made: those that may have it are asked once
 * more, at each call and not at the end of a pause. Who is still away is named, as callers know it (M4, M9, C19).
 */
export async function lookBehind(
  missing: Lookup,
  wanted: Wanted,
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
 * Services that were never listed and may have the tool: those whose prefix the name carries, else all of them. What a
 * caller may not use, it is not told of.
 */
function absentServices(wanted: Wanted): readonly Provider[] {
  const { name, principal, providers, separator, spellings, isListed } = wanted;
  const permission = permissionOf(principal.rights);
  const named = providers.filter(({ source }) => behindPrefix(source, name, spellings) !== undefined);
  return (named.length > 0 ? named : providers).filter(({ source }) => {
    if (!source.service || isListed(source.id)) return false;
    return permission.permits(supposedName(source.namespace, behindPrefix(source, name, spellings) ?? name, separator));
  });
}

/** Asks those that are down, all at once. True: one of them answered. */
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

/** Nothing where all services were listed, or where the name says that it is somebody else's. */
function absenceOf(name: string, services: readonly Provider[], hasNear: boolean): Absence | undefined {
  const away = services.map(({ source }) => source).filter(({ service }) => service !== undefined);
  const [only, another] = likeliest(name, away);
  if (only && !another && !(hasNear && closeness(name, only) === 0))
    return { failure: fail("unavailable", sentence(only.service!)), service: only.service! };
  if (!another || hasNear) return undefined;
  const told = [...new Set(away.map(({ service }) => sentence(service!)))].join("; ");
  return { failure: fail("unavailable", `${firstChars(name, 200)} is not known as long as these are away: ${told}.`) };
}

/** Those whose words the name shares most; all of them where it shares none with anybody. */
function likeliest(name: string, away: readonly Source[]): readonly Source[] {
  const best = Math.max(0, ...away.map((source) => closeness(name, source)));
  return away.filter((source) => closeness(name, source) === best);
}

/** `get_weather` is a word of Weather MCP's, `geocode` nearly one of Geocoding MCP's. */
function closeness(name: string, { id, namespace, service, shape }: Source): number {
  const said = [...(shape?.include ?? []), ...Object.entries(shape?.rename ?? {}).flat()];
  if (said.includes(name)) return Infinity;
  const own = wordsOf(`${id} ${namespace} ${service?.name ?? ""}`);
  return wordsOf(name).filter((word) => own.some((other) => isLike(word, other))).length;
}

const FILLERS: ReadonlySet<string> = new Set(["mcp", "get", "tool", "server", "service"]);

function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !FILLERS.has(word));
}

const MIN_STEM = 4;

function isLike(one: string, other: string): boolean {
  if (one === other) return true;
  const shorter = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < shorter && one[shared] === other[shared]) shared += 1;
  return shared >= MIN_STEM && shared >= shorter - 1;
}

function sentence({ name, port }: ServiceName): string {
  return `${name} unavailable on port ${port}`;
}

import { fail, type Fail } from "../core/calls/outcome.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { Source } from "../core/sources/records.ts";
import type { SourceUris } from "../core/uris/source-uris.ts";
import type { Subject } from "../core/ports/permission.ts";
import { nearest } from "../core/text/suggest.ts";
import { firstChars } from "../core/text/truncate.ts";

/** Result of resolving the name of a tool, resource or prompt. */
export type Lookup<T extends CallTarget = CallTarget> = FoundTarget<T> | MissingTarget;

export interface FoundTarget<T extends CallTarget> {
  readonly found: true;
  readonly source: Source;
  /** Rendered name, URI or template, as callers see it. */
  readonly name: string;
  /** Subject with which rights are compared. */
  readonly subject: Subject;
  readonly target: T;
  /** URIs of the source as callers see them, if the lookup is for a call. Absent: they are unchanged. */
  readonly uris?: SourceUris | undefined;
  /** True if the source does not list the tool, but accepts calls to unlisted tools. @default false */
  readonly isUnlisted?: boolean;
}

export interface MissingTarget {
  readonly found: false;
  /**
   * Failure: `unknown_tool` with `near`, `ambiguous` with `candidates`, `denied`, `invalid_params`, or `unavailable`
   * with `starting`.
   */
  readonly failure: Fail;
}

/** Returns true if the name belongs to none of the sources that this caller may know. */
export function isUnknown(lookup: Lookup): boolean {
  return !lookup.found && isNotThere(lookup.failure);
}

/** Returns true if the failure is a missing name or a missing right, which callers must not be able to distinguish. */
export function isNotThere({ kind }: Fail): boolean {
  return kind === "unknown_tool" || kind === "denied";
}

/** Returns true if the name is spelled as listed. A name that no list contains may be listed soon. */
export function isSpelledAsListed<T extends CallTarget>(lookup: Lookup<T>, asked: string): lookup is FoundTarget<T> {
  return lookup.found && lookup.name === asked && lookup.isUnlisted !== true;
}

/**
 * Returns true if the hub assigned a URI to a source that does not list it. The assignment is valid until a source
 * lists the URI.
 */
export function isGuessed<T extends CallTarget>(lookup: Lookup<T>): boolean {
  return lookup.found && lookup.target.type === "resource" && lookup.target.resource === undefined;
}

/** Returns the failure for an unknown name. `what` is the noun: tool, prompt, resource. */
export function unknown(what: string, name: string, names: Iterable<string>): MissingTarget {
  const near = nearest(name, names);
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : `The list of ${what}s shows what there is.`;
  return {
    found: false,
    failure: fail("unknown_tool", `Unknown ${what}: ${shown(name)}. ${hint}`, { details: { near } }),
  };
}

/**
 * Returns the failure for a caller with narrowed rights. It depends only on the name, so it does not reveal if the name
 * exists.
 */
export function denied(what: string, name: string, names: Iterable<string>): MissingTarget {
  const near = nearest(name, names);
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Use a listed name.";
  const message =
    `No right to use the ${what} ${shown(name)}, if there is one. ` +
    `${hint} The operator of this hub can grant more rights.`;
  return { found: false, failure: fail("denied", message, { details: { near } }) };
}

export function ambiguous(what: string, name: string, candidates: readonly string[]): MissingTarget {
  const sorted = candidates.toSorted();
  const message =
    `Several ${what}s answer to ${shown(name)}: ${sorted.slice(0, MAX_SHOWN_CANDIDATES).join(", ")}. ` +
    "Use one of these names.";
  return { found: false, failure: fail("ambiguous", message, { details: { candidates: sorted } }) };
}

export function resourceNotFound(uri: string, uris: Iterable<string>): MissingTarget {
  return {
    found: false,
    failure: fail("unknown_tool", `Resource '${shown(uri)}' not found.`, { details: { near: nearest(uri, uris) } }),
  };
}

/** Returns the failure for a name that no listed source has, while `sources` have not been listed yet. */
export function stillStarting(name: string, sources: readonly Source[]): MissingTarget {
  const ids = sources.map(({ id }) => id);
  const more = ids.length > MAX_SHOWN_CANDIDATES ? `, and ${ids.length - MAX_SHOWN_CANDIDATES} more` : "";
  const message =
    `${shown(name)} is not known yet, still starting: ${ids.slice(0, MAX_SHOWN_CANDIDATES).join(", ")}${more}. ` +
    "Try again in a moment.";
  return { found: false, failure: fail("unavailable", message, { details: { starting: ids } }) };
}

const MAX_SHOWN_CANDIDATES = 20;
const MAX_SHOWN_NAME = 200;

function shown(name: string): string {
  return name.length > MAX_SHOWN_NAME ? `${firstChars(name, MAX_SHOWN_NAME)}…` : name;
}

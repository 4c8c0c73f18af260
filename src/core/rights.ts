import { matchesAnyGlob } from "./glob.ts";
import { plainUri } from "./plain-uri.ts";

/** No bound at all. */
export const EVERYTHING = "everything";

/** What a principal may do. Whoever wants to know asks `permissionOf`; nobody else reads it. */
export type Rights = typeof EVERYTHING | NarrowRights;

/** Patterns are globs over rendered names of tools and prompts, and over URIs. */
export interface NarrowRights {
  /** Absent: all that is not denied. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Only tools that are read-only by annotation. @default false */
  readonly readOnly?: boolean;
}

/** What one caller may use. */
export interface Permission {
  /** Equal rights have equal keys, whoever holds them. */
  readonly key: string;
  /** There is something that this caller may not use. */
  readonly isNarrowed: boolean;
  permits(name: string, facts?: PermitFacts): boolean;
  /** The same for a URI that no list shows: every way in which its server may read it must be permitted. */
  permitsUri(uri: string): boolean;
}

export interface PermitFacts {
  /** Changes nothing, by its annotations. Resources and prompts never do. @default true */
  readonly readOnly: boolean;
  /** Gives no access of its own: what it leads to is judged by itself. @default false */
  readonly isDiscovery: boolean;
}

const ALL_PERMITTED: Permission = Object.freeze({
  key: EVERYTHING,
  isNarrowed: false,
  permits: () => true,
  permitsUri: () => true,
});
const known = new WeakMap<NarrowRights, Permission>();

/** The one reading of rights. */
export function permissionOf(rights: Rights): Permission {
  if (rights === EVERYTHING) return ALL_PERMITTED;
  let permission = known.get(rights);
  if (!permission) known.set(rights, (permission = compile(rights)));
  return permission;
}

/** The rights that these bounds leave: everything where there are none. */
export function rightsWithin({ allow, deny = [], readOnly = false }: NarrowRights): Rights {
  if (allow === undefined && deny.length === 0 && !readOnly) return EVERYTHING;
  return Object.freeze({ ...(allow && { allow }), ...(deny.length > 0 && { deny }), ...(readOnly && { readOnly }) });
}

/** The same rights, of which only those that change nothing are left. */
export function readOnlyRights(rights: Rights): Rights {
  return rightsWithin({ ...(rights === EVERYTHING ? {} : rights), readOnly: true });
}

function compile({ allow, deny = [], readOnly = false }: NarrowRights): Permission {
  const permits = (name: string, facts: PermitFacts = { readOnly: true, isDiscovery: false }): boolean => {
    if (matchesAnyGlob(deny, name)) return false;
    if (facts.isDiscovery) return true;
    if (readOnly && !facts.readOnly) return false;
    return allow === undefined || matchesAnyGlob(allow, name);
  };
  const plainDeny = withPlain(deny);
  const plainAllow = allow && withPlain(allow);
  const permitsUri = (uri: string): boolean => {
    const plain = plainUri(uri);
    return (
      permits(uri) &&
      !matchesAnyGlob(plainDeny, plain) &&
      (plainAllow === undefined || matchesAnyGlob(plainAllow, plain))
    );
  };
  return Object.freeze({
    key: JSON.stringify([allow ?? null, deny, readOnly]),
    isNarrowed: allow !== undefined || deny.length > 0 || readOnly,
    permits,
    permitsUri,
  });
}

function withPlain(patterns: readonly string[]): readonly string[] {
  return [...patterns, ...patterns.map(plainUri)];
}

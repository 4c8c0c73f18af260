import { compileNarrow } from "./narrow-rights.ts";
import type { NamedSubject, NarrowRights, Permission, Subject } from "./permission.ts";

/** Rights without any limit. */
export const EVERYTHING = "everything";

/** Rights of a principal, as plain data. `permissionOf` is the only reader. */
export type Rights = typeof EVERYTHING | NarrowRights | EveryRights | SomeRights;

/** Rights that combine several limits: each limit must permit. */
export interface EveryRights {
  readonly every: readonly Rights[];
}

/** Rights that combine several grants: one grant must permit. */
export interface SomeRights {
  readonly some: readonly Rights[];
}

const ALL_PERMITTED: Permission = Object.freeze({
  key: EVERYTHING,
  isNarrowed: false,
  permits: () => true,
  mayBeKnown: () => true,
});
const known = new WeakMap<object, Permission>();

/** Compiles rights, once for each rights object. */
export function permissionOf(rights: Rights): Permission {
  if (rights === EVERYTHING) return ALL_PERMITTED;
  let permission = known.get(rights);
  if (!permission) known.set(rights, (permission = compile(rights)));
  return permission;
}

/** Returns the rights within these limits. Returns `EVERYTHING` if there are no limits. */
export function rightsWithin(limits: NarrowRights): Rights {
  const { origin, deny = [], readOnly = false, ...lists } = limits;
  const given = Object.fromEntries(Object.entries(lists).filter(([, list]) => list !== undefined));
  if (Object.keys(given).length === 0 && deny.length === 0 && !readOnly) return EVERYTHING;
  return Object.freeze({
    ...given,
    ...(deny.length > 0 && { deny }),
    ...(readOnly && { readOnly }),
    ...(origin !== undefined && { origin }),
  });
}

/** Returns rights that permit a subject if all of `parts` permit it. */
export function rightsOfEvery(parts: readonly Rights[]): Rights {
  const narrow = parts.filter((part) => part !== EVERYTHING);
  if (narrow.length < 2) return narrow[0] ?? EVERYTHING;
  return Object.freeze({ every: Object.freeze(narrow) });
}

/**
 * Returns rights that permit a subject if at least one of `parts` permits it. Without parts, they permit only the
 * search for tools.
 */
export function rightsOfSome(parts: readonly Rights[]): Rights {
  if (parts.length === 0) return NO_RIGHTS;
  if (parts.length === 1 || parts.includes(EVERYTHING)) return parts.length === 1 ? parts[0]! : EVERYTHING;
  return Object.freeze({ some: Object.freeze([...parts]) });
}

const NO_RIGHTS: Rights = Object.freeze({ allow: Object.freeze([]) });

/** Returns the same rights, limited to tools that are read-only by annotation. */
export function readOnlyRights(rights: Rights): Rights {
  if (rights === EVERYTHING) return rightsWithin({ readOnly: true });
  return "every" in rights || "some" in rights
    ? rightsOfEvery([rights, { readOnly: true }])
    : rightsWithin({ ...rights, readOnly: true });
}

function compile(rights: Exclude<Rights, typeof EVERYTHING>): Permission {
  if ("every" in rights) {
    const parts = rights.every.map(permissionOf);
    return Object.freeze({
      key: `every(${parts.map(({ key }) => key).join()})`,
      isNarrowed: parts.some(({ isNarrowed }) => isNarrowed),
      permits: (subject: Subject) => parts.every((part) => part.permits(subject)),
      mayBeKnown: (name: string, separator: string) => parts.every((part) => part.mayBeKnown(name, separator)),
    });
  }
  if (!("some" in rights)) return compileNarrow(rights);
  const parts = rights.some.map(permissionOf);
  return Object.freeze({
    key: `some(${parts.map(({ key }) => key).join()})`,
    isNarrowed: parts.every(({ isNarrowed }) => isNarrowed),
    permits: (subject: Subject) => parts.some((part) => part.permits(subject)),
    mayBeKnown: (name: string, separator: string) => parts.some((part) => part.mayBeKnown(name, separator)),
  });
}

/** Place at which a tool or prompt is assumed to exist. */
export interface SupposedPlace {
  readonly namespace: string;
  readonly separator: string;
  /** Id of the source that would offer it. */
  readonly source?: string;
}

/** Returns the subject of a tool or prompt that a source may have under this name. It counts as read-only. */
export function supposedName({ namespace, separator, source }: SupposedPlace, name: string): NamedSubject {
  const prefix = namespace === "" ? "" : `${namespace}${separator}`;
  const full = `${prefix}${name}`;
  return {
    type: "name",
    name: full,
    ownName: full,
    prefixes: prefix === "" ? [] : [prefix],
    separator,
    isReadOnly: true,
    isDiscovery: false,
    ...(source !== undefined && { source }),
  };
}

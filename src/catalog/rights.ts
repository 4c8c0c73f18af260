import type { Rights } from "../core/call.ts";
import { matchesAnyGlob } from "../core/glob.ts";
import { plainUri } from "./plain-uri.ts";

/** What one caller may use. Equal rights have equal keys, whoever holds them. */
export interface Permission {
  readonly key: string;
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

const EVERYTHING: Permission = Object.freeze({ key: "", permits: () => true, permitsUri: () => true });
const known = new WeakMap<Rights, Permission>();

/** Patterns are held against rendered names of tools and prompts, and against URIs as they are listed. */
export function permissionOf(rights: Rights | undefined): Permission {
  if (!rights || (!rights.allow && !rights.deny && !rights.readOnly)) return EVERYTHING;
  let permission = known.get(rights);
  if (!permission) known.set(rights, (permission = compile(rights)));
  return permission;
}

function compile({ allow, deny = [], readOnly = false }: Rights): Permission {
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
  return Object.freeze({ key: JSON.stringify([allow ?? null, deny, readOnly]), permits, permitsUri });
}

function withPlain(patterns: readonly string[]): readonly string[] {
  return [...patterns, ...patterns.map(plainUri)];
}

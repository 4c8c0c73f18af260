import type { Principal, ToolMode } from "../calls/call.ts";
import { LOCAL_PRINCIPAL } from "../calls/call.ts";
import { rightsOfEvery, type Rights } from "./rights.ts";

/** A named selection of what the hub offers, as plain data. It only narrows the rights of its callers. */
export interface Profile {
  readonly name: string;
  /** Content of the profile, for every caller. */
  readonly rights: Rights;
  /** Tool mode of requests that name none. Absent: that of the hub. */
  readonly toolMode?: ToolMode;
  /** Only callers with one of these roles may use it, and the local caller. Absent: all callers. */
  readonly roles?: readonly string[];
}

/** A profile with its texts for clients. */
export interface DescribedProfile extends Profile {
  /** Replaces the title of the hub. */
  readonly title?: string;
  /** Replaces the instructions of the hub and its sources. */
  readonly instructions?: string;
}

/** The profiles of the current configuration. */
export interface Profiles {
  readonly all: readonly DescribedProfile[];
  /** The same without texts, for processes that only authorise. */
  readonly served: readonly Profile[];
  find(name: string): DescribedProfile | undefined;
}

/** A profile's principals by the principals of its callers: equal callers are one object, which caches hang on. */
const known = new WeakMap<Profile, WeakMap<Principal, Principal>>();

/** Returns the caller within a profile. Nothing if the caller may not use the profile. */
export function withProfile(principal: Principal, profile: Profile): Principal | undefined {
  if (!mayUse(principal, profile)) return undefined;
  let principals = known.get(profile);
  if (!principals) known.set(profile, (principals = new WeakMap()));
  let within = principals.get(principal);
  if (!within) principals.set(principal, (within = createWithin(principal, profile)));
  return within;
}

function createWithin(principal: Principal, { name, rights, toolMode }: Profile): Principal {
  return Object.freeze({
    ...principal,
    rights: rightsOfEvery([principal.rights, rights]),
    profile: { name, ...(toolMode && { toolMode }) },
  });
}

function mayUse({ id, roles: held = [] }: Principal, { roles }: Profile): boolean {
  return roles === undefined || id === LOCAL_PRINCIPAL.id || roles.some((role) => held.includes(role));
}

/**
 * Key of what belongs to one caller at one address: sessions and parked calls. The same caller has other rights in
 * another profile.
 */
export function callerKey({ id, profile }: Principal): string {
  return profile === undefined ? id : `${id}\n${profile.name}`;
}

import type { Principal, ToolMode } from "../calls/call.ts";
import { LOCAL_PRINCIPAL } from "../calls/call.ts";
import { rightsOfEvery, type Rights } from "./rights.ts";

/** Named selection of the hub's tools, prompts and resources, as plain data. It limits the rights of its callers. */
export interface Profile {
  readonly name: string;
  /** Rights that select the content of the profile, the same for every caller. */
  readonly rights: Rights;
  /** Tool mode of requests that name no tool mode. Absent: the tool mode of the hub. */
  readonly toolMode?: ToolMode;
  /** Roles whose callers may use the profile; the local caller always may. Absent: all callers. */
  readonly roles?: readonly string[];
}

/** A profile with its texts for clients. */
export interface DescribedProfile extends Profile {
  /** Title that replaces the title of the hub. */
  readonly title?: string;
  /** Instructions that replace those of the hub and its sources. */
  readonly instructions?: string;
}

/** Profiles of the current configuration. */
export interface Profiles {
  readonly all: readonly DescribedProfile[];
  /** Profiles without texts, for processes that only authorise. */
  readonly served: readonly Profile[];
  find(name: string): DescribedProfile | undefined;
}

/**
 * Principals with the rights of a profile, by the caller's principal. Each one is created once, because caches use the
 * object as their key.
 */
const known = new WeakMap<Profile, WeakMap<Principal, Principal>>();

/** Returns the caller with the rights of a profile. Returns `undefined` if the caller may not use the profile. */
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
 * Returns the key of data that belongs to one caller at one address, such as sessions and parked calls. The profile is
 * part of the key, because the same caller has other rights in another profile.
 */
export function callerKey({ id, profile }: Principal): string {
  return profile === undefined ? id : `${id}\n${profile.name}`;
}

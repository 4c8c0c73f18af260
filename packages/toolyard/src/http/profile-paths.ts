import type { Profile } from "../core/ports/profiles.ts";

/** Path of a request, and the profile through which the request reaches the hub. */
export interface ProfiledPath {
  /** Path below the base path, or below the address of the profile. */
  readonly path: string;
  /** Address of the profile below the base path. Empty without a profile. */
  readonly base: string;
  /** Name of the profile in the path. Absent: the path belongs to the hub itself. */
  readonly name?: string;
  /** Profile of that name. Absent if there is none. */
  readonly profile?: Profile | undefined;
}

/** Path of the MCP endpoint. Addresses of profiles are below it. */
export const MCP_MOUNT = "/mcp";

/**
 * Reads addresses of profiles: `/mcp/<name>` is the MCP endpoint of a profile. The other paths of the hub follow it, as
 * in `/mcp/<name>/openapi.json`.
 */
export class ProfilePaths {
  readonly #profiles: ReadonlyMap<string, Profile>;

  constructor(profiles: readonly Profile[] = []) {
    this.#profiles = new Map(profiles.map((profile) => [profile.name, profile]));
  }

  read(path: string): ProfiledPath {
    if (!path.startsWith(START) || path.length === START.length) return { path, base: "" };
    const slash = path.indexOf("/", START.length);
    const end = slash === -1 ? path.length : slash;
    const rest = path.slice(end);
    const name = path.slice(START.length, end);
    return {
      path: rest === "" || rest === "/" ? MCP_MOUNT : rest,
      base: path.slice(0, end),
      name,
      profile: this.#profiles.get(name),
    };
  }
}

const START = `${MCP_MOUNT}/`;

import type { Profile } from "../core/ports/profiles.ts";

/** A path of the hub, and the profile that it was reached by. */
export interface ProfiledPath {
  /** Below the base path, or below the profile's address. */
  readonly path: string;
  /** Address of the profile below the base path; empty without one. */
  readonly base: string;
  /** Name in the path. Absent: the path is of the hub itself. */
  readonly name?: string;
  /** Absent: there is no profile with this name. */
  readonly profile?: Profile | undefined;
}

/** Path of the MCP endpoint, below which profiles have theirs. */
export const MCP_MOUNT = "/mcp";

/**
 * Reads addresses of profiles: `/mcp/<name>` is the MCP endpoint of a profile, and the hub's other paths follow it, as
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

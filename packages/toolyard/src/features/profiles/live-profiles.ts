import type { DescribedProfile, Profile, Profiles } from "../../core/ports/profiles.ts";
import { resolveProfiles, type ProfilesConfig } from "./options.ts";

/** Sections of the configuration that profiles are read from. */
export interface ProfileReads {
  readonly profiles?: ProfilesConfig;
  readonly roles?: Readonly<Record<string, unknown>>;
}

/** Profiles of the current configuration. The object of a profile stays the same until its configuration changes. */
export class LiveProfiles implements Profiles {
  readonly #config: () => ProfileReads;
  #resolved: { readonly from: ProfilesConfig | undefined; readonly all: readonly DescribedProfile[] } | undefined;

  constructor(config: () => ProfileReads) {
    this.#config = config;
  }

  get all(): readonly DescribedProfile[] {
    const { profiles, roles } = this.#config();
    if (!this.#resolved || this.#resolved.from !== profiles)
      this.#resolved = { from: profiles, all: resolveProfiles(profiles, roles) };
    return this.#resolved.all;
  }

  get served(): readonly Profile[] {
    return this.all.map(({ title: _title, instructions: _instructions, ...served }) => served);
  }

  find(name: string): DescribedProfile | undefined {
    return this.all.find((profile) => profile.name === name);
  }
}

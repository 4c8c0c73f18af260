import { PROFILES as PROFILES_SERVICE } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LiveProfiles, type ProfileReads } from "./live-profiles.ts";
import { PROFILE_SECTIONS, resolveProfiles } from "./options.ts";

/** Selections of what the hub offers, served at addresses of their own. */
export const PROFILES = defineFeature({
  name: "profiles",
  schema: PROFILE_SECTIONS,
  provides: [PROFILES_SERVICE],
  changesEndpoints: true,
  check: ({ profiles, roles }: ProfileReads) => void resolveProfiles(profiles, roles),
  start: (_services, config: () => ProfileReads) => ({ services: { profiles: new LiveProfiles(config) } }),
});

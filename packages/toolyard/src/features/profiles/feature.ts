import { PROFILES as PROFILES_SERVICE } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LiveProfiles, type ProfileReads } from "./live-profiles.ts";
import { PROFILE_SECTIONS, resolveProfiles } from "./options.ts";

/** Feature: profiles, each a selection of the hub's tools, prompts and resources with a separate address. */
export const PROFILES = defineFeature({
  name: "profiles",
  schema: PROFILE_SECTIONS,
  provides: [PROFILES_SERVICE],
  changesEndpoints: true,
  check: ({ profiles, roles }: ProfileReads) => void resolveProfiles(profiles, roles),
  start: (_services, config: () => ProfileReads) => ({ services: { profiles: new LiveProfiles(config) } }),
});

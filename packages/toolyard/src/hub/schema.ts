import type { LoadedConfig } from "../config/load.ts";
import type { ObjectOf, OptionSchema } from "../core/options/option-schema.ts";
import type { ConfigOf } from "../kernel/feature.ts";
import { configSchema, type ListenerSections } from "../kernel/feature-sections.ts";
import type { StoreSections } from "../state/stores.ts";
import { FEATURES } from "./features.ts";

export type HubConfig = ConfigOf<(typeof FEATURES)[number]> & ObjectOf<ListenerSections> & ObjectOf<StoreSections>;
/** Configuration that was read and checked. */
export type LoadedHubConfig = LoadedConfig<HubConfig>;

/** Schema of the whole configuration: the sections of all features. */
export const CONFIG_SCHEMA = configSchema(FEATURES) as OptionSchema<HubConfig>;

import type { ReloadPreview } from "../core/ports/hub-control.ts";
import { ACCESS_PLAN } from "../core/services.ts";
import { resolveHttp } from "../http/options.ts";
import { getService } from "../kernel/start-features.ts";
import { changedSections, sectionsAtRestart } from "./changed-sections.ts";
import type { Hub } from "./hub.ts";
import type { LoadedHubConfig } from "./schema.ts";
import { endpointsOf, wantedEndpoints } from "./serve/endpoints.ts";

/**
 * Returns the effects of a configuration on everything but the sources. Throws an `OptionError` if the endpoints could
 * not be opened with it.
 */
export function previewReload(
  { features, services, config: before }: Hub,
  { tree, warnings }: LoadedHubConfig,
): Omit<ReloadPreview, "sources"> {
  wantedEndpoints(features, tree);
  resolveHttp(tree.server ?? {}, getService(services, ACCESS_PLAN)(tree.server));
  return {
    sections: changedSections(before.tree, tree),
    atRestart: sectionsAtRestart(before.tree, tree),
    reopens: endpointsOf(features, tree) !== endpointsOf(features, before.tree),
    warnings,
  };
}

import type { CallResolution } from "../pipeline/late-pipeline.ts";
import { mirroredResolver } from "./mirror.ts";
import { awaitedDownload, callResolver, whyLate, type ResolvePlaces } from "./resolve.ts";
import { withUpstreamKind } from "./upstream-kind.ts";

/** Returns the functions with which the pipeline finds the target of a call. The first call loads this module. */
export function callResolution(places: ResolvePlaces, { mirror }: { readonly mirror: boolean }): CallResolution {
  return {
    resolve: mirror ? mirroredResolver(places) : callResolver(places),
    whyLate: (call, provider) => whyLate(call, provider, places),
    waitsFor: (call, provider) => awaitedDownload(call, provider, places),
    ...(mirror && { finish: withUpstreamKind }),
  };
}

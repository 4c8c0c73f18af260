import { messageOf } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import type { Pipeline, PipelineParts } from "./pipeline.ts";

/**
 * Creates a pipeline whose stages are loaded by the first call, because a hub that starts, lists and waits needs none
 * of them. Calls that arrive during the loading run afterwards, in order.
 */
export function latePipeline(parts: PipelineParts): Pipeline {
  let pipeline: Pipeline | undefined;
  let loading: Promise<Pipeline> | undefined;
  const load = async (): Promise<Pipeline> => {
    const { createPipeline, loadStages } = await import("./pipeline.ts");
    return (pipeline = createPipeline(parts, await loadStages(parts)));
  };
  return (call) => {
    if (pipeline) return pipeline(call);
    loading ??= load();
    return loading.then(
      (loaded) => loaded(call),
      // The stages cannot be loaded if the package was replaced or removed while its hub is running.
      (error) => fail("internal", `The stages of a call cannot be loaded: ${messageOf(error)}. Start the hub again.`),
    );
  };
}

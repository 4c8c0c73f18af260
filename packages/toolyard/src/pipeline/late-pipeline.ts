import { messageOf } from "../core/errors.ts";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import { endStart } from "../core/start-optimisation.ts";
import type { Pipeline, PipelineParts } from "./pipeline.ts";

/** Functions with which the pipeline finds the target of a call. */
export interface CallResolution extends Pick<PipelineParts, "resolve" | "whyLate" | "waitsFor"> {
  /** Changes the outcome of every call. @default outcomes stay as they are */
  readonly finish?: (outcome: Outcome) => Outcome;
}

/** Parts of a pipeline that exist before the first call. */
export interface LatePipelineParts extends Omit<PipelineParts, keyof CallResolution> {
  readonly loadResolution: () => Promise<CallResolution>;
}

/**
 * Creates a pipeline that loads its stages with the first call, because a hub that starts, lists and waits needs no
 * stage. Calls that arrive during the loading run afterwards, in order.
 */
export function latePipeline({ loadResolution, ...parts }: LatePipelineParts): Pipeline {
  let pipeline: Pipeline | undefined;
  let loading: Promise<Pipeline> | undefined;
  const load = async (): Promise<Pipeline> => {
    // From the first call on, functions run often, so V8 optimises them as usual.
    endStart();
    const [{ createPipeline, loadStages }, { finish, ...resolution }] = await Promise.all([
      import("./pipeline.ts"),
      loadResolution(),
    ]);
    const all = { ...parts, ...resolution };
    const run = createPipeline(all, await loadStages(all));
    return (pipeline = finish ? (call) => run(call).then(finish) : run);
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

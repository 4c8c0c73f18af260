import type { Catalog } from "../catalog/catalog.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { SignInDesk } from "../core/ports/sign-in-desk.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { HubState } from "../state/ports/store.ts";
import type { Planner } from "./sources/plan.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { PlannedSource, SourceSet } from "./sources/source-set.ts";

/** What a hub is made of; `open-hub.ts` makes it. */
export interface HubParts {
  readonly config: LoadedHubConfig;
  /** Where keys are looked up. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly catalog: Catalog;
  readonly sources: SourceSet;
  /** Made anew when the bounds in the configuration changed. */
  readonly createPipeline: (config: LoadedHubConfig) => Pipeline;
  readonly planner: Planner;
  /** The program registers tools of its own. */
  readonly isHosted: boolean;
  /** It shows one other hub unchanged: names, failures and retry times are that hub's own. */
  readonly isMirror: boolean;
  /** What this hub shares with others. */
  readonly state: HubState;
  readonly signIns: SignInDesk;
  readonly logger: Logger;
  /** Takes the configuration's secrets out of a text. */
  redact(text: string): string;
  /** The same for all texts of a value; what merely looks like a secret stays. */
  redactIn<T>(value: T): T;
  /** Takes a source's own secrets out of all texts of a value that the source wrote about itself. */
  redactDefinition<T>(source: string, value: T): T;
  /** Registers the secrets of a configuration. */
  hide(secrets: readonly string[]): void;
  /** Registers which sources the registered secrets are given to. */
  assignSecrets(planned: readonly PlannedSource[]): void;
  /** Ends what the parts opened: files, stores. */
  closeParts(): Promise<void>;
}

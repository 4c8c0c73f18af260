import type { ModuleHub } from "toolyard";
import { registerCheckTools, registerTypeChecks } from "./check-tools.ts";
import { registerDocumentation } from "./documentation-tools.ts";
import { registerEstimates } from "./estimate-tools.ts";
import { registerExplain, registerLlmTools } from "./explain-tools.ts";
import { registerExportTools } from "./export-tools.ts";
import { registerHelpers } from "./helper-tools.ts";
import { ModelFiles } from "./model-files.ts";
import { rootsOfGnn } from "./options.ts";
import { registerRenderTools } from "./render-tools.ts";
import { registerDrawing, registerVisualization } from "./picture-tools.ts";
import { registerSetup } from "./setup-tools.ts";
import { registerSimulateTools } from "./simulate-tools.ts";

type Register = (hub: ModuleHub, files: ModelFiles) => void;

/** Registration functions of the modules. A core server loads them one by one from `modules/`. */
export const MODULES = {
  gnn: (hub, files) => {
    registerCheckTools(hub, files);
    registerDocumentation(hub);
    registerSimulateTools(hub, files);
    registerDrawing(hub, files);
    registerHelpers(hub, files);
    registerExplain(hub, files);
  },
  gnn_type_checker: (hub, files) => {
    registerTypeChecks(hub, files);
    registerEstimates(hub, files);
  },
  export: registerExportTools,
  render: registerRenderTools,
  visualization: registerVisualization,
  setup: registerSetup,
  llm: registerLlmTools,
} as const satisfies Readonly<Record<string, Register>>;

export type ModuleName = keyof typeof MODULES;

/** Properties of a core server beyond a module's hub. */
interface Core {
  /** Folders of `[gnn]` in the configuration. */
  readonly gnnRoots?: readonly string[];
}

/**
 * Registers the tools of one module with a core server. The tools may use the folders of its configuration or of
 * `GNN_ROOTS`.
 */
export function registerModule(name: ModuleName, hub: ModuleHub & Core): void {
  const { gnnRoots = [] } = hub;
  MODULES[name](hub, new ModelFiles(gnnRoots.length > 0 ? gnnRoots : rootsOfGnn(process.env)));
}

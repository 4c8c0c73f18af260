import type { ModuleHub } from "toolyard";
import type { Environment } from "toolyard/service/environment";
import type { Service } from "toolyard/service/service";
import { ModelFiles } from "./service/model-files.ts";
import { MODULES } from "./service/modules.ts";
import { rootsOfGnn } from "./service/options.ts";

/** The GNN service: reads, checks, formats, exports and runs Active Inference models in GNN. Requires no network. */
export const gnn: Service = { name: "gnn", tool: "gnn.check", port: 50_058, register };

function register(hub: ModuleHub, environment: Environment): void {
  const files = new ModelFiles(rootsOfGnn(environment));
  for (const registerTools of Object.values(MODULES)) registerTools(hub, files);
}

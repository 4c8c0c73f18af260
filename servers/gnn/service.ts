import type { ModuleHub } from "toolyard";
import type { Environment } from "../shared/environment.ts";
import type { Service } from "../shared/service.ts";
import { registerCheckTools } from "./service/check-tools.ts";
import { registerDocumentation } from "./service/documentation-tools.ts";
import { registerExportTools } from "./service/export-tools.ts";
import { ModelFiles } from "./service/model-files.ts";
import { rootsOf } from "./service/options.ts";
import { registerSimulateTools } from "./service/simulate-tools.ts";

/** Reads, checks, lays out, exports and runs models of Active Inference in GNN. Needs no network. */
export const gnn: Service = { name: "gnn", tool: "gnn.check", port: 50_058, register };

function register(hub: ModuleHub, environment: Environment): void {
  const files = new ModelFiles(rootsOf(environment));
  registerCheckTools(hub, files);
  registerExportTools(hub, files);
  registerDocumentation(hub);
  registerSimulateTools(hub, files);
}

export { checkGnn, type CheckedFile } from "./checks/check.ts";
export { ontologyReport, type OntologyReport } from "./checks/ontology.ts";
export {
  findGnnFiles,
  reportOf,
  typeCheckDirectory,
  type DirectoryCheck,
  type DirectoryCheckOptions,
} from "./directory-check.ts";
export { programCosts, type CostOptions, type ProgramCosts } from "./estimates/program-costs.ts";
export { seedEraEstimates, type ResourceEstimates } from "./estimates/seed-era.ts";
export {
  EXPORT_FORMATS,
  exportGnn,
  FormatError,
  importGnn,
  type ExportFormat,
  type ExportFormatName,
  type ImportedFile,
} from "./exports/formats.ts";
export { graphOf, type Graph, type GraphEdge, type GraphNode } from "./exports/graph.ts";
export { fromData, toData, type FileData } from "./language/data.ts";
export {
  DIAGNOSTICS,
  formatDiagnostic,
  type Diagnostic,
  type DiagnosticCode,
  type Severity,
} from "./language/diagnostics.ts";
export type { GnnFile, Model, Section, Statement, Value } from "./language/model.ts";
export { parseGnn, type ParseResult, type ParseOptions } from "./language/parse.ts";
export { printGnn, type PrintOptions } from "./language/print.ts";
export type { ProfileName } from "./language/profiles.ts";
export { edgesOf, timeOf, viewOf, type Edge, type ModelView, type TimeView } from "./language/view.ts";
export { ProgramError } from "./programs/program-error.ts";
export type {
  DiscreteAgent,
  DiscreteProgram,
  Factor,
  LinearGaussianProgram,
  Modality,
  Program,
} from "./programs/program.ts";
export { readProgram } from "./programs/read-program.ts";
export type { RenderOptions, RenderTarget } from "./render/target.ts";
export { RENDER_TARGETS, renderProgram, type RenderTargetName } from "./render/targets.ts";
export { plotRun } from "./simulate/plot.ts";
export { toRunData, toRunText } from "./simulate/report.ts";
export type { SimulateOptions } from "./simulate/options.ts";
export type { Replay, ReplayRows } from "./simulate/replay.ts";
export { simulate } from "./simulate/simulate.ts";
export type {
  DiscreteSimulation,
  FilteredStep,
  LinearSimulation,
  SimulatedAgent,
  SimulatedFactor,
  SimulatedModality,
  SimulatedStep,
  Simulation,
} from "./simulate/simulation.ts";
export { typeCheck, type TypeCheckResult } from "./type-check.ts";
export {
  drawGnn,
  PictureError,
  PICTURES,
  toPng,
  type DrawOptions,
  type PictureName,
  type ThemeName,
} from "./pictures/draw.ts";
export { diffGnn, type Difference } from "./helpers/diff.ts";
export { explainGnn } from "./helpers/explain.ts";
export { newModel, TEMPLATES, type TemplateName, type TemplateOptions } from "./helpers/templates.ts";

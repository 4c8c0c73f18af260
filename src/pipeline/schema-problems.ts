import type { JsonObject } from "../core/json.ts";
import type { ToolRecord } from "../core/records.ts";
import type { CompiledSchema } from "../schema/compile.ts";
import type { PipelineDeps } from "./ports.ts";

/** Tells of each broken schema once, when it is first met. */
export class SchemaProblems {
  readonly #deps: Pick<PipelineDeps, "logger" | "onProblem">;
  readonly #told = new WeakSet<JsonObject>();

  constructor(deps: Pick<PipelineDeps, "logger" | "onProblem">) {
    this.#deps = deps;
  }

  /** `role` is `input` or `output`. */
  look(tool: ToolRecord, schema: JsonObject, role: string, compiled: CompiledSchema): void {
    if (compiled.usable && compiled.warnings.length === 0) return;
    if (!this.isNew(schema)) return;
    const message = compiled.usable
      ? `Its ${role} schema is checked in part. ${compiled.warnings.join(" ")}`
      : `Its ${role} schema cannot be used, so calls are not checked against it: ${compiled.reason ?? "it is broken"}.`;
    this.#deps.logger.warning(message, { source: tool.source.id, tool: tool.name });
    this.#deps.onProblem({ source: tool.source.id, subject: tool.name, message });
  }

  /** True once for each schema. */
  isNew(schema: JsonObject): boolean {
    if (this.#told.has(schema)) return false;
    this.#told.add(schema);
    return true;
  }
}

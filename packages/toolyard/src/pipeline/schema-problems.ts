import type { JsonObject } from "../core/json/json.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import type { Verdict } from "../schema/threads/messages.ts";
import type { SchemaRole } from "../schema/guarded-schema.ts";
import type { PipelineDeps } from "./ports.ts";

/** Reports each broken schema once. */
export class SchemaProblems {
  readonly #deps: Pick<PipelineDeps, "logger" | "onProblem">;
  readonly #reported = new WeakSet<JsonObject>();

  constructor(deps: Pick<PipelineDeps, "logger" | "onProblem">) {
    this.#deps = deps;
  }

  /** Reports the problems of a schema. `role` is `input` or `output`. */
  report(tool: ToolRecord, role: SchemaRole, verdict: Verdict | undefined): void {
    if (verdict === undefined || (verdict.usable && verdict.warnings.length === 0)) return;
    const schema = role === "input" ? tool.inputSchema : tool.outputSchema;
    if (schema === undefined || !this.isNew(schema)) return;
    const message = verdict.usable
      ? `Its ${role} schema is checked in part. ${verdict.warnings.join(" ")}`
      : `Its ${role} schema cannot be used, so calls are not checked against it: ${verdict.reason}.`;
    this.#deps.logger.warning(message, { source: tool.source.id, tool: tool.name });
    this.#deps.onProblem({ source: tool.source.id, subject: tool.name, message });
  }

  /** Returns true at the first call for each schema. */
  isNew(schema: JsonObject): boolean {
    if (this.#reported.has(schema)) return false;
    this.#reported.add(schema);
    return true;
  }
}

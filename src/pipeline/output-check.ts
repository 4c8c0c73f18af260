import type { JsonObject } from "../core/json.ts";
import type { ToolRecord } from "../core/records.ts";
import { compileSchema } from "../schema/compile.ts";
import type { OutputValidation } from "./options.ts";
import type { PipelineDeps } from "./ports.ts";
import { SchemaProblems } from "./schema-problems.ts";

/**
 * Holds structured content against the tool's own output schema. The content itself is never touched, and errors are
 * never judged.
 */
export class OutputCheck {
  readonly #mode: OutputValidation;
  readonly #logger: PipelineDeps["logger"];
  readonly #problems: SchemaProblems;
  readonly #misfits: SchemaProblems;

  constructor(deps: PipelineDeps) {
    this.#mode = deps.options.outputValidation;
    this.#logger = deps.logger;
    this.#problems = new SchemaProblems(deps);
    this.#misfits = new SchemaProblems(deps);
  }

  /** What is wrong, when a call must fail for it. */
  misfit(tool: ToolRecord, result: JsonObject): string | undefined {
    const { outputSchema } = tool;
    if (this.#mode === "off" || !outputSchema) return undefined;
    const wrong = this.#judge(tool, outputSchema, result["structuredContent"]);
    if (wrong === undefined || this.#mode === "strict") return wrong;
    // Once aloud for each tool: one that never fits would fill the log.
    const level = this.#misfits.isNew(outputSchema) ? "warning" : "debug";
    this.#logger[level]("A result does not fit the tool's own output schema; it was passed on as it is.", {
      source: tool.source.id,
      tool: tool.name,
      wrong,
    });
    return undefined;
  }

  #judge(tool: ToolRecord, schema: JsonObject, content: unknown): string | undefined {
    if (content === undefined) return "structured content is missing";
    const compiled = compileSchema(schema, { fillDefaults: false });
    this.#problems.look(tool, schema, "output", compiled);
    const checked = compiled.check(content);
    return checked.ok ? undefined : checked.message;
  }
}

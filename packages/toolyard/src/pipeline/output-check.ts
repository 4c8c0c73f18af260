import { messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import type { CheckResult } from "../schema/compile.ts";
import type { OutputValidation } from "./options.ts";
import type { PipelineDeps } from "./ports.ts";
import { SchemaProblems } from "./schema-problems.ts";

/**
 * Checks structured content against the tool's own output schema. Never changes the content, and never checks errors.
 */
export class OutputCheck {
  readonly #mode: OutputValidation;
  readonly #logger: PipelineDeps["logger"];
  readonly #schemas: PipelineDeps["schemas"];
  readonly #problems: SchemaProblems;
  readonly #misfits: SchemaProblems;

  constructor(deps: PipelineDeps) {
    this.#mode = deps.options.outputValidation;
    this.#logger = deps.logger;
    this.#schemas = deps.schemas;
    this.#problems = new SchemaProblems(deps);
    this.#misfits = new SchemaProblems(deps);
  }

  /**
   * Returns the error if the call must fail because of the content. Returns a promise if a worker thread validates and
   * the answer must wait; a mere warning never delays an answer.
   */
  misfit(tool: ToolRecord, result: JsonObject): string | undefined | Promise<string | undefined> {
    const { outputSchema } = tool;
    if (this.#mode === "off" || !outputSchema) return undefined;
    const content = result["structuredContent"];
    if (content === undefined) return this.#tell(tool, outputSchema, "structured content is missing");
    const checked = this.#schemas.of(outputSchema, "output").checkHere(content);
    if (checked) return this.#tell(tool, outputSchema, this.#wrongIn(tool, outputSchema, checked));
    const apart = this.#checkApart(tool, outputSchema, content);
    if (this.#mode === "strict") return apart;
    apart.catch((error: unknown) =>
      this.#logger.debug("A result was not compared with its output schema.", {
        source: tool.source.id,
        tool: tool.name,
        error: messageOf(error),
      }),
    );
    return undefined;
  }

  async #checkApart(tool: ToolRecord, schema: JsonObject, content: unknown): Promise<string | undefined> {
    const whom = { source: tool.source.id, isGone: () => false };
    const checked = await this.#schemas.of(schema, "output").checkApart(content, whom);
    return this.#tell(tool, schema, this.#wrongIn(tool, schema, checked));
  }

  #wrongIn(tool: ToolRecord, schema: JsonObject, checked: CheckResult): string | undefined {
    this.#problems.report(tool, "output", this.#schemas.of(schema, "output").verdict);
    return checked.ok ? undefined : checked.message;
  }

  #tell(tool: ToolRecord, outputSchema: JsonObject, wrong: string | undefined): string | undefined {
    if (wrong === undefined || this.#mode === "strict") return wrong;
    // Warns once per tool, because a tool that never matches its schema would fill the log.
    const level = this.#misfits.isNew(outputSchema) ? "warning" : "debug";
    this.#logger[level]("A result does not fit the tool's own output schema; it was passed on unchanged.", {
      source: tool.source.id,
      tool: tool.name,
      wrong,
    });
    return undefined;
  }
}

import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type {
  PromptRecord,
  ResourceRecord,
  TemplateRecord,
  ProblemDetails,
  ToolRecord,
} from "../core/sources/records.ts";
import { allowsObject, isEmptySchema } from "../schema/normalise.ts";
import { findSchemaFault } from "../schema/schema-fault.ts";
import { PROMPT, RESOURCE, RESOURCE_TEMPLATE, ROOT_SCHEMA, TOOL } from "../wire/shapes/definitions.ts";
import { changed, Faults, mustBe, readPart, UNFIT, type Shape } from "../wire/shapes/shape.ts";
import { withheldProblem } from "./hidden-texts.ts";

/**
 * Result of repairing an entry that the protocol does not allow. The same rule applies to every source and era. Because
 * of one such entry, official clients refuse the whole list, including the tools of all other servers. A member is
 * removed if the entry is usable without it; otherwise the entry is withheld. Both are reported. Everything else stays
 * unchanged, and a valid record stays the same object.
 */
export interface RepairedRecord<R> {
  /** Absent: the entry is withheld. */
  readonly record?: R;
  readonly problems: readonly ProblemDetails[];
}

const NO_PROBLEMS: readonly ProblemDetails[] = Object.freeze([]);

export function repairPrompt(record: PromptRecord): RepairedRecord<PromptRecord> {
  return repairWith(PROMPT, record, record.name);
}

export function repairResource(record: ResourceRecord): RepairedRecord<ResourceRecord> {
  return repairWith(RESOURCE, record, record.uri);
}

export function repairTemplate(record: TemplateRecord): RepairedRecord<TemplateRecord> {
  return repairWith(RESOURCE_TEMPLATE, record, record.uriTemplate);
}

function repairWith<R extends { readonly definition: JsonObject }>(
  shape: Shape,
  record: R,
  subject: string,
): RepairedRecord<R> {
  const faults = new Faults();
  const definition = readPart(shape, record.definition, { at: undefined, faults });
  if (definition === UNFIT) return withheld(subject, faults);
  if (definition === record.definition) return { record, problems: NO_PROBLEMS };
  return { record: { ...record, definition: definition as JsonObject }, problems: [repairedProblem(subject, faults)] };
}

export function repairTool(tool: ToolRecord): RepairedRecord<ToolRecord> {
  return fits(tool) ? { record: tool, problems: NO_PROBLEMS } : repair(tool);
}

/**
 * Returns true if a tool without an output schema needs no repair. For nearly all tools, no further check is needed.
 */
function fits({ definition, inputSchema, outputSchema }: ToolRecord): boolean {
  const given = definition["inputSchema"];
  return (
    outputSchema === undefined &&
    definition["outputSchema"] === undefined &&
    TOOL.fits(definition) &&
    isJsonObject(given) &&
    given["type"] === "object" &&
    ROOT_SCHEMA.fits(given) &&
    (inputSchema === given || ROOT_SCHEMA.fits(inputSchema))
  );
}

function repair(tool: ToolRecord): RepairedRecord<ToolRecord> {
  const { name } = tool;
  const faults = new Faults();
  const about = readPart(TOOL, tool.definition, { at: undefined, faults });
  if (about === UNFIT) return withheld(name, faults);
  const schemas = new SchemaRepair(tool, about as JsonObject, faults);
  if (!schemas.input()) return withheld(name, faults);
  schemas.output();
  const { record } = schemas;
  return { record, problems: faults.count === 0 ? NO_PROBLEMS : [repairedProblem(name, faults)] };
}

/** Repairs the schemas of one tool, in its definition and in its record, which may share objects. */
class SchemaRepair {
  record: ToolRecord;
  readonly #faults: Faults;

  constructor(tool: ToolRecord, definition: JsonObject, faults: Faults) {
    this.record = definition === tool.definition ? tool : { ...tool, definition };
    this.#faults = faults;
  }

  /** Repairs the input schema. Returns false if the tool cannot be called. */
  input(): boolean {
    const given = this.record.definition["inputSchema"];
    if (isEmptySchema(given)) {
      this.#faults.note(INPUT, (member) => mustBe(member, "an object", given), "any object is accepted");
      this.#check(readRoot(INPUT, this.record.inputSchema, this.#faults));
      this.#define("inputSchema", this.record.inputSchema);
    } else if (!isJsonObject(given) || !allowsObject(given)) {
      this.#faults.note(INPUT, (member) => mustBe(member, "a schema of type object", shownType(given)));
      return false;
    } else if (given["type"] === "object") {
      const schema = readRoot(INPUT, given, this.#faults);
      this.#define("inputSchema", schema);
      this.#check(this.record.inputSchema === given ? schema : readRoot(INPUT, this.record.inputSchema, new Faults()));
    } else {
      // Callers see the schema that the source derived from this one. If the source removed keywords, it has reported
      // that. Otherwise it only set the type, which is reported here.
      const { inputSchema } = this.record;
      if (Object.keys(given).every((keyword) => keyword === "type" || keyword in inputSchema))
        this.#faults.note(INPUT_TYPE, (member) => mustBe(member, '"object"', given["type"]), "it is read as that");
      this.#check(readRoot(INPUT, inputSchema, this.#faults));
    }
    return true;
  }

  /** Sets the schema that validates calls. */
  #check(inputSchema: JsonObject): void {
    if (inputSchema !== this.record.inputSchema) this.record = { ...this.record, inputSchema };
  }

  output(): void {
    const { definition, outputSchema: own } = this.record;
    const given = "outputSchema" in definition ? definition["outputSchema"] : own;
    if (given === undefined) return;
    const schema = isJsonObject(given) ? this.#withoutNullType(readRoot(OUTPUT, given, this.#faults)) : undefined;
    const fault = schema ? findSchemaFault(schema) : mustBe("outputSchema", "a schema", given);
    if (fault !== undefined) this.#faults.note(OUTPUT, () => fault, "the tool is offered without it");
    if (fault !== undefined || !schema) return this.#dropOutput();
    if (schema === given) return;
    if (this.record.definition["outputSchema"] === given) this.#define("outputSchema", schema);
    this.record = { ...this.record, outputSchema: schema };
  }

  #withoutNullType(schema: JsonObject): JsonObject {
    if (schema["type"] !== null) return schema;
    this.#faults.note({ step: "type", above: OUTPUT }, (member) => mustBe(member, "a type", null));
    return changed(schema, new Map([["type", UNFIT]]));
  }

  #define(member: string, value: JsonObject): void {
    const { definition } = this.record;
    if (definition[member] !== value)
      this.record = { ...this.record, definition: changed(definition, new Map([[member, value]])) };
  }

  #dropOutput(): void {
    const { outputSchema: _schema, ...rest } = this.record;
    this.record = { ...rest, definition: changed(rest.definition, new Map([["outputSchema", UNFIT]])) };
  }
}

const INPUT = { step: "inputSchema", above: undefined };
const OUTPUT = { step: "outputSchema", above: undefined };
const INPUT_TYPE = { step: "type", above: INPUT };

function readRoot(at: typeof INPUT, schema: JsonObject, faults: Faults): JsonObject {
  return readPart(ROOT_SCHEMA, schema, { at, faults }) as JsonObject;
}

function shownType(schema: unknown): unknown {
  return isJsonObject(schema) ? schema["type"] : schema;
}

function withheld(subject: string, faults: Faults): { readonly problems: readonly ProblemDetails[] } {
  return { problems: [withheldProblem(subject, `${faults.latest}.`)] };
}

/** Reports an entry that is offered without some of its members. */
function repairedProblem(subject: string, faults: Faults): ProblemDetails {
  const named = faults.list.map(({ reason, remedy }) => `${reason}: ${remedy}`);
  const more = faults.count - named.length;
  const rest = more > 0 ? `; and ${more} more` : "";
  const message = `Clients would refuse the whole list because of it. ${named.join("; ")}${rest}.`;
  return { subject, message, repaired: true };
}

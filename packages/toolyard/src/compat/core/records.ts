import type { JsonObject } from "../../core/json/json.ts";

/** A registered tool (G16). */
export class MCPTool {
  readonly name: string;
  /** Function that handles a call. It receives the arguments as one object. */
  readonly func: (...args: never[]) => unknown;
  /** JSON Schema of the arguments. */
  readonly schema: JsonObject;
  readonly description: string;

  constructor({ name, func, schema, description }: Pick<MCPTool, "name" | "func" | "schema" | "description">) {
    this.name = name;
    this.func = func;
    this.schema = schema;
    this.description = description;
  }
}

/** A registered resource (G16). */
export class MCPResource {
  /** URI, or RFC 6570 template. */
  readonly uri_template: string;
  /** Function that reads the resource. It receives the URI and the template's variables. */
  readonly retriever: (...args: never[]) => unknown;
  readonly description: string;

  constructor({
    uri_template,
    retriever,
    description,
  }: Pick<MCPResource, "uri_template" | "retriever" | "description">) {
    this.uri_template = uri_template;
    this.retriever = retriever;
    this.description = description;
  }

  get uriTemplate(): string {
    return this.uri_template;
  }
}

import { isJsonObject, listMember, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import type { Calls } from "../../../endpoints/rest/calls.ts";
import type { PromptRow, ResourceList, ResourceRow, TemplateRow } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";
import { answer } from "./tools.ts";

const MAX_TEXT_CHARS = 2000;

/** Lists and reads resources and prompts with the rights of the caller. */
export class ContentRoutes {
  readonly #parts: ConsoleParts;
  readonly #calls: Calls;

  constructor(parts: ConsoleParts, calls: Calls) {
    this.#parts = parts;
    this.#calls = calls;
  }

  get routes(): readonly AdminRoute[] {
    return [
      {
        method: "GET",
        path: "resources",
        needs: "any",
        summary: "Resources and templates.",
        handle: (request) => this.#resources(request),
      },
      {
        method: "POST",
        path: "resources/read",
        needs: "any",
        summary: "Reads the resource `uri`.",
        handle: (request) => this.#read(request),
      },
      {
        method: "GET",
        path: "prompts",
        needs: "any",
        summary: "The prompts.",
        handle: (request) => this.#prompts(request),
      },
      {
        method: "POST",
        path: "prompts/*",
        needs: "any",
        summary: "Fills in a prompt with the posted arguments.",
        handle: (request) => this.#fill(request),
      },
      {
        method: "POST",
        path: "complete",
        needs: "any",
        summary: "Completes an argument: `ref`, `argument`, `context`, as in MCP.",
        handle: (request) => this.#complete(request),
      },
    ];
  }

  async #resources({ view }: AdminRequest): Promise<ResourceList> {
    const [list, templates] = await Promise.all([
      this.#parts.hub.list("resources", view, { waits: false }),
      this.#parts.hub.list("templates", view, { waits: false }),
    ]);
    return { resources: list.entries.map(toResourceRow), templates: templates.entries.map(toTemplateRow) };
  }

  async #read({ exchange, view }: AdminRequest): Promise<void> {
    const { uri } = await exchange.readObject("`uri`");
    const target = String(uri ?? "");
    await answer(exchange, () => this.#calls.run({ method: "resources/read", target }, view, exchange));
  }

  async #prompts({ view }: AdminRequest): Promise<{ readonly prompts: readonly PromptRow[] }> {
    const { entries } = await this.#parts.hub.list("prompts", view, { waits: false });
    return { prompts: entries.map(toPromptRow) };
  }

  async #fill({ names: [name = ""], exchange, view }: AdminRequest): Promise<void> {
    const args = await exchange.readObject("the prompt's arguments");
    await answer(exchange, () => this.#calls.run({ method: "prompts/get", target: name, args }, view, exchange));
  }

  async #complete({ exchange, view }: AdminRequest): Promise<void> {
    const body = await exchange.readObject("`ref` and `argument`");
    const ref = objectMember(body, "ref") ?? {};
    const target = stringMember(ref, "name") ?? stringMember(ref, "uri") ?? "";
    const params = {
      ref,
      argument: body["argument"],
      ...(isJsonObject(body["context"]) && { context: body["context"] }),
    };
    await answer(exchange, () => this.#calls.run({ method: "completion/complete", target, params }, view, exchange));
  }
}

function toResourceRow(entry: JsonObject): ResourceRow {
  const { size } = entry;
  return { ...toRow(entry), uri: String(entry["uri"]), ...(typeof size === "number" && { size }) };
}

function toTemplateRow(entry: JsonObject): TemplateRow {
  return { ...toRow(entry), uriTemplate: String(entry["uriTemplate"]) };
}

function toPromptRow(entry: JsonObject): PromptRow {
  const { mimeType: _mimeType, ...row } = toRow(entry);
  const parameters = listMember(entry, "arguments").filter(isJsonObject);
  return {
    ...row,
    arguments: parameters.map((one) => ({
      name: String(one["name"]),
      ...textMember(one, "description"),
      isRequired: one["required"] === true,
    })),
  };
}

function toRow(entry: JsonObject): Omit<ResourceRow, "uri" | "size"> {
  return {
    name: String(entry["name"]),
    ...textMember(entry, "title"),
    ...textMember(entry, "description"),
    ...textMember(entry, "mimeType"),
  };
}

function textMember(entry: JsonObject, name: string): Readonly<Record<string, string>> {
  const text = stringMember(entry, name);
  return text === undefined ? {} : { [name]: firstChars(text, MAX_TEXT_CHARS) };
}

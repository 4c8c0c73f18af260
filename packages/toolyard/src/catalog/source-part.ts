import { stringifyExact } from "../core/json/exact-json.ts";
import { messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { renderMcpName, type NameParts } from "../core/names/names.ts";
import type {
  Listing,
  Problem,
  PromptRecord,
  ResourceRecord,
  Source,
  TemplateRecord,
  ToolRecord,
} from "../core/sources/records.ts";
import { parseUri } from "../core/uris/resource-uri.ts";
import type { NamedSubject } from "../core/ports/permission.ts";
import { isReadOnlyTool } from "../core/calls/effects.ts";
import { UriTemplate } from "../core/uris/uri-template.ts";
import { cleanDefinition } from "./clean-definition.ts";
import type { CatalogOptions } from "./options.ts";
import { compareText, isReservedName, mayUseReservedNames } from "./precedence.ts";
import { toolEntry } from "./tool-entry.ts";

/** Record with its MCP form in a list and the JSON text of that form, under the name that it has without conflicts. */
export interface PreparedRecord<R> {
  readonly record: R;
  /** Rendered name, URI or URI template. */
  readonly key: string;
  readonly entry: JsonObject;
  readonly json: string;
  readonly notes: readonly string[];
}

/** Prepared tool or prompt. */
export interface PreparedNamed<R> extends PreparedRecord<R> {
  readonly subject: NamedSubject;
}

export type PreparedTool = PreparedNamed<ToolRecord>;
export type PreparedPrompt = PreparedNamed<PromptRecord>;

export interface PreparedResource extends PreparedRecord<ResourceRecord> {
  /** URI in canonical form by the rules of WHATWG. Unchanged if the text is not a URI. */
  readonly canonical: string;
}

export interface PreparedTemplate extends PreparedRecord<TemplateRecord> {
  readonly template: UriTemplate;
}

/** Prepared records of one source, kept while its listing stays the same. */
export interface SourcePart {
  readonly source: Source;
  readonly listing: Listing;
  readonly tools: readonly PreparedTool[];
  readonly resources: readonly PreparedResource[];
  readonly templates: readonly PreparedTemplate[];
  readonly prompts: readonly PreparedPrompt[];
  readonly problems: readonly Problem[];
}

/** Removes a source's own secrets from a text that the source wrote. */
export type HideSecrets = (source: string, text: string) => string;

/**
 * Prepares sources and caches the result per record, so that the unchanged records of a new listing are not prepared
 * again.
 */
export class PartMaker {
  readonly #options: CatalogOptions;
  readonly #hide: HideSecrets;
  readonly #tools = new WeakMap<ToolRecord, PreparedTool>();
  readonly #resources = new WeakMap<ResourceRecord, PreparedResource>();
  readonly #templates = new WeakMap<TemplateRecord, PreparedTemplate>();
  readonly #prompts = new WeakMap<PromptRecord, PreparedPrompt>();

  constructor(options: CatalogOptions, hide: HideSecrets = (_source, text) => text) {
    this.#options = options;
    this.#hide = hide;
  }

  /** Performs `make` in steps of one record, so that `make` itself only reads caches. */
  *steps({ tools, resources, templates, prompts }: Listing): Generator<void, void> {
    yield* tried(tools, this.#preparedTool);
    yield* tried(resources, this.#preparedResource);
    yield* tried(templates, this.#preparedTemplate);
    yield* tried(prompts, this.#preparedPrompt);
  }

  make(source: Source, listing: Listing): SourcePart {
    const problems = [...listing.problems];
    const report = (subject: string, message: string) => problems.push({ source: source.id, subject, message });
    const inOrder = <P extends { readonly key: string }>(items: readonly P[]): readonly P[] =>
      listing.isOrdered === true ? items : items.toSorted((a, b) => compareText(a.key, b.key));
    const tools = prepareAll(listing.tools, report, {
      identity: nameOf,
      prepare: this.#preparedTool,
    });
    const resources = prepareAll(listing.resources, report, {
      identity: uriOf,
      prepare: this.#preparedResource,
    });
    const templates = prepareAll(listing.templates, report, {
      identity: templateOf,
      prepare: this.#preparedTemplate,
    });
    const prompts = prepareAll(listing.prompts, report, {
      identity: nameOf,
      prepare: this.#preparedPrompt,
    });
    const allowed = tools.filter((tool) => this.#isAllowed(tool, report));
    return {
      source,
      listing,
      tools: inOrder(allowed),
      resources: inOrder(resources),
      templates: inOrder(templates),
      prompts: inOrder(prompts),
      problems,
    };
  }

  readonly #preparedTool = (record: ToolRecord): PreparedTool =>
    remembered(this.#tools, record, () => this.#tool(record));
  readonly #preparedResource = (record: ResourceRecord): PreparedResource =>
    remembered(this.#resources, record, () => this.#resource(record));
  readonly #preparedTemplate = (record: TemplateRecord): PreparedTemplate =>
    remembered(this.#templates, record, () => this.#template(record));
  readonly #preparedPrompt = (record: PromptRecord): PreparedPrompt =>
    remembered(this.#prompts, record, () => this.#prompt(record));

  #tool(record: ToolRecord): PreparedTool {
    const key = renderMcpName(record, this.#options.naming);
    const { entry, json, notes } = this.#clean(record, key, toolEntry(record, key));
    const facts = { isReadOnly: isReadOnlyTool(record), isDiscovery: record.role === "discovery" };
    // The members are written out, because an object with spreads before a member is slow to create (decision 0040).
    return { record, key, entry, json, notes, subject: this.#subject(record, key, facts) };
  }

  #prompt(record: PromptRecord): PreparedPrompt {
    const key = renderMcpName(record, this.#options.naming);
    const subject = this.#subject(record, key, { isReadOnly: true, isDiscovery: false });
    return { ...this.#item(record, key, "name"), subject: { ...subject, isPrompt: true } };
  }

  #subject(
    record: NameParts,
    name: string,
    { isReadOnly, isDiscovery }: Pick<NamedSubject, "isReadOnly" | "isDiscovery">,
  ): NamedSubject {
    const { separator } = this.#options.naming;
    return {
      type: "name",
      name,
      ownName: name,
      prefixes: namespacePrefix(record, name, separator),
      separator,
      source: record.source.id,
      isReadOnly,
      isDiscovery,
    };
  }

  #resource(record: ResourceRecord): PreparedResource {
    return { ...this.#item(record, record.uri, "uri"), canonical: parseUri(record.uri)?.canonical ?? record.uri };
  }

  #template(record: TemplateRecord): PreparedTemplate {
    return { ...this.#item(record, record.uriTemplate, "uriTemplate"), template: new UriTemplate(record.uriTemplate) };
  }

  #item<R extends { readonly source: Source; readonly definition: JsonObject }>(
    record: R,
    key: string,
    member: string,
  ): PreparedRecord<R> {
    const { definition } = record;
    const entry =
      definition[member] === key
        ? definition
        : { ...(member in definition ? {} : { [member]: key }), ...definition, [member]: key };
    return this.#clean(record, key, entry);
  }

  #clean<R extends { readonly source: Source }>(record: R, key: string, entry: JsonObject): PreparedRecord<R> {
    const json = stringifyExact(entry);
    const { id } = record.source;
    const cleaned = cleanDefinition(entry, json, {
      maxChars: this.#options.maxDescriptionChars,
      hide: (text) => this.#hide(id, text),
    });
    if (!cleaned) return { record, key, entry, json, notes: [] };
    return { record, key, entry: cleaned.definition, json: stringifyExact(cleaned.definition), notes: cleaned.notes };
  }

  #isAllowed(tool: PreparedTool, report: SubjectReporter): boolean {
    const { key, record } = tool;
    if (!isReservedName(key) || !this.#options.reserveNames || mayUseReservedNames(record.source)) return true;
    report(
      key,
      `\`${key}\` is a name of the hub's own tools, so this tool is not offered. ` +
        "Rename it, or give its source a namespace.",
    );
    return false;
  }
}

/**
 * Returns the prefix that the hub added to a name. Its length is known, because invalid characters are replaced one by
 * one.
 */
function namespacePrefix({ source, qualified }: NameParts, name: string, separator: string): readonly string[] {
  return source.namespace === "" || qualified ? [] : [name.slice(0, source.namespace.length + separator.length)];
}

type SubjectReporter = (subject: string, message: string) => void;

function* tried<R>(records: readonly R[], prepare: (record: R) => unknown): Generator<void, void> {
  for (const record of records) {
    try {
      prepare(record);
    } catch {
      // The error is ignored here, because `prepareAll` prepares the record again and reports it.
    }
    yield;
  }
}

function remembered<K extends object, V>(memory: WeakMap<K, V>, key: K, make: () => V): V {
  let value = memory.get(key);
  if (value === undefined) memory.set(key, (value = make()));
  return value;
}

function nameOf(record: { readonly name: string }): string {
  return record.name;
}

function uriOf(record: ResourceRecord): string {
  return record.uri;
}

function templateOf(record: TemplateRecord): string {
  return record.uriTemplate;
}

/**
 * Prepares the valid records. Of duplicates in one source, only the first is kept. Reports the duplicates and every
 * cleaning.
 */
function prepareAll<R, P extends PreparedRecord<R>>(
  records: readonly R[],
  report: SubjectReporter,
  { identity, prepare }: { identity: (record: R) => string; prepare: (record: R) => P },
): P[] {
  const seen = new Set<string>();
  const items: P[] = [];
  for (const record of records) {
    const id = identity(record);
    if (seen.size === seen.add(id).size) {
      report(id, `\`${id}\` is offered twice by this source; the first one is used.`);
      continue;
    }
    try {
      const prepared = prepare(record);
      for (const note of prepared.notes) report(prepared.key, `Since clients and models read it, ${note}.`);
      items.push(prepared);
    } catch (error) {
      // A definition that was created in code may contain values that JSON cannot represent. The other definitions are
      // still valid.
      report(id, `\`${id}\` is not offered, since its definition is not JSON: ${messageOf(error)}`);
    }
  }
  return items;
}

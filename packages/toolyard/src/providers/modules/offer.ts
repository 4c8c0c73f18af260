import type { Logger } from "../../core/ports/ports.ts";
import {
  type Listing,
  type Problem,
  type PromptRecord,
  type ResourceRecord,
  type Source,
  type TemplateRecord,
  type ToolRecord,
} from "../../core/sources/records.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";
import { overwriting, type PromptEntry, type ResourceEntry } from "./registrations.ts";
import type { RunningModule } from "./running-module.ts";
import type { ToolEntry } from "./tool-entry.ts";

export interface OwnedEntry<E> {
  readonly entry: E;
  readonly module: RunningModule;
}

/** Everything that all modules offer at one time. If a name was registered twice, the later registration is used. */
export interface ModuleOffer {
  readonly tools: ReadonlyMap<string, OwnedEntry<ToolEntry>>;
  readonly resources: ReadonlyMap<string, OwnedEntry<ResourceEntry>>;
  readonly prompts: ReadonlyMap<string, OwnedEntry<PromptEntry>>;
  readonly listing: Listing;
}

export interface OfferInput {
  readonly source: Source;
  readonly visibility: Visibility;
  /** Modules in order of discovery. */
  readonly modules: readonly RunningModule[];
  readonly problems: readonly Problem[];
  readonly logger: Logger;
  /** Replacements that were already logged. */
  readonly told: Set<string>;
}

export function createOffer(input: OfferInput): ModuleOffer {
  const tools = merge("Tool", input, (module) => module.registrations.tools);
  const resources = merge("Resource", input, (module) => module.registrations.resources);
  const prompts = merge("Prompt", input, (module) => module.registrations.prompts);
  const refused = input.modules.flatMap((module) => Array.from(module.registrations.refused));
  const { source } = input;
  const problems = [
    ...input.problems,
    ...refused.map(([subject, message]) => ({ source: source.id, subject, message })),
  ];
  return { tools, resources, prompts, listing: toListing(input, { tools, resources, prompts }, problems) };
}

function merge<E>(
  word: string,
  { modules, logger, told }: OfferInput,
  entriesOf: (module: RunningModule) => ReadonlyMap<string, E>,
): Map<string, OwnedEntry<E>> {
  const merged = new Map<string, OwnedEntry<E>>();
  for (const module of modules) {
    for (const [key, entry] of entriesOf(module)) {
      const note = overwriting(word, key);
      if (merged.has(key) && !told.has(note)) {
        told.add(note);
        logger.warning(note);
      }
      merged.set(key, { entry, module });
    }
  }
  return merged;
}

function toListing(
  { source, visibility }: OfferInput,
  { tools, resources, prompts }: Omit<ModuleOffer, "listing">,
  problems: readonly Problem[],
): Listing {
  const plain: ResourceRecord[] = [];
  const templates: TemplateRecord[] = [];
  for (const { entry } of resources.values()) {
    if (entry.template) templates.push({ source, uriTemplate: entry.key, definition: entry.definition });
    else plain.push({ source, uri: entry.key, definition: entry.definition });
  }
  const completes = [...resources.values(), ...prompts.values()].some(
    ({ entry }) => Object.keys(entry.complete).length > 0,
  );
  return {
    tools: Array.from(tools.values(), ({ entry }) => toolRecord(source, visibility, entry)),
    resources: plain,
    templates,
    prompts: Array.from(prompts.values(), ({ entry }): PromptRecord => ({
      source,
      name: entry.name,
      definition: entry.definition,
    })),
    features: { completions: completes, subscribe: resources.size > 0, logging: tools.size > 0 },
    problems,
  };
}

function toolRecord(source: Source, visibility: Visibility, entry: ToolEntry): ToolRecord {
  return {
    source,
    name: entry.name,
    description: entry.description,
    inputSchema: entry.inputSchema,
    ...(entry.outputSchema ? { outputSchema: entry.outputSchema } : {}),
    keywords: entry.keywords,
    visibility: entry.visibility ?? visibility,
    ...(entry.limits ? { limits: entry.limits } : {}),
    ...(entry.aliases.length > 0 ? { hiddenNames: entry.aliases } : {}),
    // A name with a dot, such as `module.tool` (G51), already contains its prefix.
    ...(entry.name.includes(".") ? { qualified: true } : {}),
    definition: entry.definition,
  };
}

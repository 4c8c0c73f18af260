import { withoutHidden } from "../core/text/hidden-text.ts";
import type { JsonObject } from "../core/json/json.ts";
import { NO_SHAPE, type ListingShape } from "../core/sources/listing-shape.ts";
import type { Logger } from "../core/ports/ports.ts";
import type {
  Listing,
  Problem,
  PromptRecord,
  ResourceRecord,
  ServerSelf,
  Source,
  TemplateRecord,
  ToolRecord,
} from "../core/sources/records.ts";
import { hiddenProblem, revealDefinition, TEXTS_CLEANED } from "./hidden-texts.ts";
import { repairPrompt, repairResource, repairTemplate, type RepairedRecord } from "./repair-definition.ts";
import { chooseTools, reportIdleOptions, shapeTool, type ShapedRecord, type ProblemReporter } from "./shape-tool.ts";

/**
 * Converts a source's listing to the form of the catalog, for every kind of source. Only this class decides which
 * entries are offered, and how: tools are selected, renamed, described and limited as configured; pinned tools are
 * offered only while they equal the approved definition; hints are taken from local sources only; hidden text is
 * removed. An unchanged record stays the same object.
 */
export class ListingShaper {
  readonly #source: Source;
  readonly #shape: ListingShape;
  readonly #tools: Offers<ToolRecord>;
  readonly #resources = new Offers<ResourceRecord>((record) => shown(repairResource(record), record.uri));
  readonly #templates = new Offers<TemplateRecord>((record) => shown(repairTemplate(record), record.uriTemplate));
  readonly #prompts = new Offers<PromptRecord>((record) => shown(repairPrompt(record), record.name));

  /** `keyOf` returns the name that problem reports use for a tool. */
  constructor(source: Source, keyOf: (tool: ToolRecord) => string = ({ name }) => name) {
    this.#source = source;
    this.#shape = source.shape ?? NO_SHAPE;
    this.#tools = new Offers((tool) => shapeTool(tool, { source, shape: this.#shape, keyOf }));
  }

  /** Performs `shape` in steps of one record, so that `shape` itself only reads caches. */
  *steps(listing: Listing): Generator<void, void> {
    yield* this.#tools.steps(chooseTools(listing.tools, this.#shape).chosen);
    yield* this.#resources.steps(listing.resources);
    yield* this.#templates.steps(listing.templates);
    yield* this.#prompts.steps(listing.prompts);
  }

  shape(listing: Listing): Listing {
    const problems: Problem[] = [];
    const report: ProblemReporter = (told) =>
      void problems.push({ ...told, source: this.#source.id, subject: withoutHidden(told.subject) });
    const { chosen, excluded } = chooseTools(listing.tools, this.#shape);
    const tools = sameOr(listing.tools, this.#tools.of(chosen, report));
    const resources = this.#resources.of(listing.resources, report);
    const templates = this.#templates.of(listing.templates, report);
    const prompts = this.#prompts.of(listing.prompts, report);
    reportIdleOptions(listing.tools, this.#shape, report);
    const instructions = this.#instructions(listing);
    const server = shownServer(listing.server, report);
    const { instructions: _said, server: _self, problems: before, ...rest } = listing;
    const isSame =
      problems.length === 0 &&
      tools === listing.tools &&
      resources === listing.resources &&
      templates === listing.templates &&
      prompts === listing.prompts &&
      instructions === listing.instructions &&
      server === listing.server;
    if (isSame) return listing;
    return Object.freeze({
      ...rest,
      tools,
      resources,
      templates,
      prompts,
      ...(instructions !== undefined && { instructions }),
      ...(server && { server }),
      problems: [...before, ...problems],
      ...(excluded.length > 0 && { excluded }),
    });
  }

  #instructions({ instructions }: Listing): string | undefined {
    return this.#shape.instructions && instructions !== undefined ? withoutHidden(instructions) : undefined;
  }
}

/** Maximum number of log lines about the definitions of one list. */
const MAX_LOGGED = 50;

/** Returns the shaped list, and logs each definition that was withheld or repaired. */
export function withLog(given: Listing, shaped: Listing, logger: Logger | undefined): Listing {
  if (!logger || shaped === given) return shaped;
  const found = shaped.problems.slice(given.problems.length).filter((one) => one.withheld ?? one.repaired);
  for (const { source, subject, message } of found.slice(0, MAX_LOGGED)) logger.warning(message, { source, subject });
  return shaped;
}

/** Shapes records of one type. Each is shaped once while its source returns the same object. */
class Offers<R extends object> {
  readonly #make: (record: R) => ShapedRecord<R>;
  readonly #made = new WeakMap<R, ShapedRecord<R>>();

  constructor(make: (record: R) => ShapedRecord<R>) {
    this.#make = make;
  }

  *steps(records: readonly R[]): Generator<void, void> {
    for (const given of records) {
      this.#offerOf(given);
      yield;
    }
  }

  of(records: readonly R[], report: ProblemReporter): readonly R[] {
    const offered: R[] = [];
    for (const given of records) {
      const offer = this.#offerOf(given);
      for (const told of offer.problems) report(told);
      if (offer.record) offered.push(offer.record);
    }
    return sameOr(records, offered);
  }

  #offerOf(given: R): ShapedRecord<R> {
    let offer = this.#made.get(given);
    if (!offer) this.#made.set(given, (offer = this.#make(given)));
    return offer;
  }
}

/** Returns `made`, or `given` if both have the same entries, so that an unchanged list stays the same object. */
function sameOr<R>(given: readonly R[], made: readonly R[]): readonly R[] {
  return made.length === given.length && made.every((record, at) => record === given[at]) ? given : made;
}

const NO_PROBLEMS: readonly never[] = Object.freeze([]);

/** Returns a repaired record without hidden text. */
function shown<R extends { readonly definition: JsonObject }>(
  { record, problems }: RepairedRecord<R>,
  subject: string,
): ShapedRecord<R> {
  if (!record) return { problems };
  const offer = revealed(record, subject);
  return problems.length === 0 ? offer : { ...offer, problems: [...problems, ...offer.problems] };
}

function revealed<R extends { readonly definition: JsonObject }>(record: R, subject: string): ShapedRecord<R> {
  const { definition, hiddenIn } = revealDefinition(record.definition);
  if (hiddenIn !== undefined) return { problems: [hiddenProblem(subject, hiddenIn)] };
  if (definition === record.definition) return { record, problems: NO_PROBLEMS };
  return { record: { ...record, definition }, problems: [{ subject, message: TEXTS_CLEANED }] };
}

function shownServer(server: ServerSelf | undefined, report: ProblemReporter): ServerSelf | undefined {
  if (!server) return undefined;
  const { definition: info, hiddenIn } = revealDefinition(server.info);
  if (hiddenIn === undefined) return info === server.info ? server : { ...server, info };
  report(hiddenProblem("serverInfo", hiddenIn));
  return undefined;
}

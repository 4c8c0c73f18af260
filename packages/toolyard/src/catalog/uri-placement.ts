import type { Problem, Source } from "../core/sources/records.ts";
import { uiResourcesOf } from "../core/uris/ui-resource.ts";
import { splitUriPrefix, withUriPrefix } from "../core/uris/uri-prefix.ts";
import type { UriTemplate } from "../core/uris/uri-template.ts";
import { renamedRow } from "./renamed-row.ts";
import type { PreparedRecord, PreparedResource, PreparedTemplate, SourcePart } from "./source-part.ts";
import { schemeOf, uriPrefixes } from "./uri-prefixes.ts";

/** Entries of one source, and their shown URIs. */
export interface UriPlace {
  readonly part: SourcePart;
  /** Prefix that distinguishes this source's URIs from all others: its alias and `+`. */
  readonly prefix: string;
  /** Resources of the source by canonical URI, if they are shown without the prefix. */
  readonly bare: ReadonlyMap<string, PreparedResource>;
  /** Templates of the source as callers see them. A template without the prefix matches URIs without a prefix. */
  readonly templates: readonly PlacedTemplate[];
  /** Schemes of the URIs and templates that the source lists. */
  readonly schemes: ReadonlySet<string>;
  /** User interfaces that the source's tools name, by the source's own URIs. */
  readonly pages: ReadonlySet<string>;
}

export interface PlacedTemplate {
  readonly row: PreparedTemplate;
  readonly isBare: boolean;
}

export interface UriPlacement {
  /** Sources in order of precedence. */
  readonly places: readonly UriPlace[];
  /** Resources by shown URI. */
  readonly byUri: ReadonlyMap<string, PreparedResource>;
  readonly byTemplate: ReadonlyMap<string, PreparedTemplate>;
  /** For each source id: the source's own URIs that are shown as other URIs. */
  readonly rewrites: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly problems: readonly Problem[];
}

/**
 * Decides the URI under which each resource and template is shown. A URI belongs to the first source that lists it or
 * serves it by a template, in any spelling. Later sources are shown with their prefix. The prefix is also added to URIs
 * that start with another source's prefix, and to a template without a fixed scheme, which would match every source's
 * URIs.
 */
export function placeUris(parts: readonly SourcePart[]): UriPlacement {
  const placing = new UriPlacements(uriPrefixes(parts));
  const places = parts.map((part) => placing.place(part));
  const { byUri, byTemplate, rewrites, problems } = placing;
  return { places, byUri, byTemplate, rewrites, problems };
}

class UriPlacements {
  readonly byUri = new Map<string, PreparedResource>();
  readonly byTemplate = new Map<string, PreparedTemplate>();
  readonly rewrites = new Map<string, Map<string, string>>();
  readonly problems: Problem[] = [];
  readonly #prefixes: ReadonlyMap<SourcePart, string>;
  /** Owner of each canonical URI. */
  readonly #owners = new Map<string, Source>();
  readonly #bareTemplates: PreparedTemplate[] = [];

  constructor(prefixes: ReadonlyMap<SourcePart, string>) {
    this.#prefixes = prefixes;
  }

  place(part: SourcePart): UriPlace {
    const prefix = this.#prefixes.get(part)!;
    const bare = new Map<string, PreparedResource>();
    const own = new Map<string, Source>();
    for (const row of part.resources) {
      const why = this.#whyNotBare(part, row);
      const shown = this.#show(this.byUri, why, { part, row, prefix, member: "uri" });
      if (!shown || why !== undefined) continue;
      if (!bare.has(row.canonical)) bare.set(row.canonical, shown);
      own.set(row.canonical, part.source);
    }
    const templates = part.templates.flatMap((row): PlacedTemplate[] => {
      const why = this.#whyNotBareTemplate(part, row);
      const shown = this.#show(this.byTemplate, why, { part, row, prefix, member: "uriTemplate" });
      return shown ? [{ row: shown, isBare: why === undefined }] : [];
    });
    // Added after all entries of the source were checked, because entries of one source do not conflict with each
    // other.
    for (const [uri, source] of own) this.#owners.set(uri, source);
    for (const { row, isBare } of templates) {
      if (!isBare) continue;
      this.#warnOfOverlap(part.source, row, prefix);
      this.#bareTemplates.push(row);
    }
    return { part, prefix, bare, templates, schemes: schemesOf(part), pages: pagesOf(part) };
  }

  #whyNotBare(part: SourcePart, { key, canonical }: PreparedResource): string | undefined {
    const reserved = this.#reservedFor(part, key) ?? this.#reservedFor(part, canonical);
    if (reserved) return `URIs with this start belong to ${reserved}`;
    const owner = this.#owners.get(canonical);
    if (owner) return `${owner.id} has that URI and has precedence`;
    const taken = this.#bareTemplates.find(
      ({ record, template }) =>
        record.source !== part.source && (matches(template, canonical) || matches(template, key)),
    );
    return taken && `${taken.record.source.id} serves it by its template \`${taken.key}\` and has precedence`;
  }

  #whyNotBareTemplate(part: SourcePart, { key }: PreparedTemplate): string | undefined {
    if (schemeOf(key) === undefined)
      return "it does not start with a complete scheme, so it would match the URIs of every source";
    const reserved = this.#reservedFor(part, key);
    if (reserved) return `URIs with this start belong to ${reserved}`;
    const owner = this.byTemplate.get(key)?.record.source;
    return owner && `${owner.id} has that template and has precedence`;
  }

  /** Returns the other source with the prefix at the start of a URI or template, if there is one. */
  #reservedFor(part: SourcePart, text: string): string | undefined {
    const found = splitUriPrefix(text)?.prefix.toLowerCase();
    if (found === undefined) return undefined;
    for (const [other, prefix] of this.#prefixes)
      if (other !== part && found === prefix.toLowerCase()) return other.source.id;
    return undefined;
  }

  #show<P extends PreparedRecord<unknown>>(
    shown: Map<string, P>,
    why: string | undefined,
    wish: PrefixedRow<P>,
  ): P | undefined {
    const { row, prefix, member } = wish;
    const { source } = wish.part;
    const key = why === undefined ? row.key : withUriPrefix(prefix, row.key);
    if (shown.has(key)) {
      this.#report(source, row.key, `\`${row.key}\` is not offered: there is another \`${key}\` already.`);
      return undefined;
    }
    const placed = renamedRow(row, key, member);
    shown.set(key, placed);
    if (why !== undefined) {
      const message = `\`${row.key}\` is offered as \`${key}\`, since ${why}.`;
      this.problems.push({ source: source.id, subject: row.key, message, renamed: true });
      this.#rewrite(source, row.key, key);
    }
    return placed;
  }

  /** Warns that this template can match URIs that belong to another source. Such URIs cannot be listed in advance. */
  #warnOfOverlap(source: Source, { key, template }: PreparedTemplate, prefix: string): void {
    const other = this.#bareTemplates.find((row) => row.record.source !== source && mayOverlap(row.template, template));
    const listed = other ? undefined : this.#listedBefore(source, template);
    const first = other
      ? `what \`${other.key}\` of ${other.record.source.id} serves too belong to it`
      : listed && `\`${listed.key}\` is that of ${listed.record.source.id}`;
    if (first)
      this.#report(
        source,
        key,
        `Of \`${key}\`, ${first}, since it comes first. Ask with the prefix \`${prefix}\` for these.`,
      );
  }

  #listedBefore(source: Source, template: UriTemplate): PreparedResource | undefined {
    for (const row of this.byUri.values()) if (row.record.source !== source && matches(template, row.key)) return row;
    return undefined;
  }

  #rewrite(source: Source, uri: string, shown: string): void {
    let ofSource = this.rewrites.get(source.id);
    if (!ofSource) this.rewrites.set(source.id, (ofSource = new Map()));
    ofSource.set(uri, shown);
  }

  #report(source: Source, subject: string, message: string): void {
    this.problems.push({ source: source.id, subject, message });
  }
}

function schemesOf({ resources, templates }: SourcePart): ReadonlySet<string> {
  return new Set([...resources, ...templates].flatMap(({ key }) => schemeOf(key) ?? []));
}

function pagesOf({ tools }: SourcePart): ReadonlySet<string> {
  return new Set(tools.flatMap(({ record }) => uiResourcesOf(record)));
}

interface PrefixedRow<P> {
  readonly part: SourcePart;
  readonly row: P;
  readonly prefix: string;
  readonly member: "uri" | "uriTemplate";
}

function matches(template: UriTemplate, uri: string): boolean {
  return template.match(uri) !== undefined;
}

/** Returns true if both templates may serve the same URI, judged by the text before their first expressions. */
function mayOverlap(a: UriTemplate, b: UriTemplate): boolean {
  return a.head.startsWith(b.head) || b.head.startsWith(a.head);
}

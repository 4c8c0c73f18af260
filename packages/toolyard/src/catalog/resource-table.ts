import type { View } from "../core/ports/hub-port.ts";
import { isJsonObject } from "../core/json/json.ts";
import { fail } from "../core/calls/outcome.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { Problem, Source } from "../core/sources/records.ts";
import type { SourceUris } from "../core/uris/source-uris.ts";
import { isCanonical, parseUri } from "../core/uris/resource-uri.ts";
import type { Permission, UriSubject } from "../core/ports/permission.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { splitUriPrefix, withUriPrefix } from "../core/uris/uri-prefix.ts";
import { inListOrder } from "./list-order.ts";
import { denied, resourceNotFound, type FoundTarget, type Lookup, type MissingTarget } from "./lookup.ts";
import type { PreparedResource, PreparedTemplate, SourcePart } from "./source-part.ts";
import { placeUris, type PlacedTemplate, type UriPlace, type UriPlacement } from "./uri-placement.ts";
import { schemeOf } from "./uri-prefixes.ts";
import { firstChars } from "../core/text/truncate.ts";

export type ResourceTarget = Extract<CallTarget, { type: "resource" }>;

/** Source that serves a URI, and the target in that source. */
interface Answerer {
  readonly place: UriPlace;
  readonly target: ResourceTarget;
}

/**
 * Resources and templates of the sources by URI. The precedence of the sources, not the spelling of a URI, decides
 * which source owns it. Every source can also be addressed with its prefix, even if another source owns the same URI.
 */
export class ResourceTable {
  /** Resources in list order, like the templates. */
  readonly resources: readonly PreparedResource[];
  readonly templates: readonly PreparedTemplate[];
  readonly #placement: UriPlacement;
  readonly #places: readonly UriPlace[];
  readonly #byPrefix: ReadonlyMap<string, UriPlace>;
  /** Placement of each source's URIs, by source id. */
  readonly #placeOf: ReadonlyMap<string, UriPlace>;
  readonly #urisOf: ReadonlyMap<string, SourceUris>;

  /** `parts` are in order of precedence. `inOwnOrder`: ids of the sources whose own order the lists keep. */
  constructor(parts: readonly SourcePart[], inOwnOrder: ReadonlySet<string> = new Set()) {
    this.#placement = placeUris(parts);
    this.#places = this.#placement.places;
    this.#byPrefix = new Map(this.#places.map((place) => [place.prefix.toLowerCase(), place]));
    this.#placeOf = new Map(this.#places.map((place) => [place.part.source.id, place]));
    this.#urisOf = new Map(
      Array.from(this.#placeOf.keys(), (id) => [
        id,
        {
          shown: (uri: string) => this.shownUri(id, uri),
          prefixed: (uri: string) => withUriPrefix(this.#placeOf.get(id)!.prefix, uri),
          isListedWithPrefix: this.rewrites.has(id),
          own: (text: string) => this.#listedUri(id, text),
        },
      ]),
    );
    this.resources = inListOrder([...this.#placement.byUri.values()], inOwnOrder);
    this.templates = inListOrder([...this.#placement.byTemplate.values()], inOwnOrder);
  }

  get problems(): readonly Problem[] {
    return this.#placement.problems;
  }

  /** For each source id: the source's own URIs that are shown as other URIs. */
  get rewrites(): ReadonlyMap<string, ReadonlyMap<string, string>> {
    return this.#placement.rewrites;
  }

  /** Returns the template that is shown as `text`. */
  templateShownAs(text: string): PreparedTemplate | undefined {
    return this.#placement.byTemplate.get(text);
  }

  /**
   * Returns a source's own URI as callers see it. It is unchanged if the hub would route it to this source; otherwise
   * it has the source's prefix.
   */
  shownUri(sourceId: string, uri: string): string {
    const place = this.#placeOf.get(sourceId);
    if (!place) return uri;
    const listed = this.rewrites.get(sourceId)?.get(uri);
    if (listed !== undefined) return listed;
    if (this.#placement.byUri.get(uri)?.record.source.id === sourceId) return uri;
    const isBare = this.#prefixed(uri) === undefined && this.#leadsTo(place, uri);
    return isBare ? uri : withUriPrefix(place.prefix, uri);
  }

  /**
   * Returns the URIs of one source. Returns `undefined` if there is only one source, so that all URIs are unchanged.
   */
  urisOf(sourceId: string): SourceUris | undefined {
    return this.#places.length > 1 ? this.#urisOf.get(sourceId) : undefined;
  }

  #listedUri(sourceId: string, text: string): string {
    if (!this.rewrites.has(sourceId)) return text;
    const row = this.#placement.byUri.get(text);
    return row?.record.source.id === sourceId ? row.record.uri : text;
  }

  /** Returns true if a URI without a prefix belongs to this source or to no source. */
  #leadsTo(place: UriPlace, uri: string): boolean {
    const owner = (this.#bareOwner(uri) ?? this.#offeredBy(uri))?.place;
    return owner === undefined ? !this.#serves(place, uri) : owner === place;
  }

  /**
   * Resolves a URI. A listed URI resolves to its entry as it is written. Any other URI must be in its canonical form.
   * With a prefix, it goes to the source with that prefix. Without one, it goes to the first source that lists it or
   * serves it by a template; otherwise to the source with a tool that has it as user interface; otherwise to the only
   * source that offers URIs of its scheme, because servers also return URIs that they do not list. A URI that the
   * caller may not use counts as unknown.
   */
  resolve(uri: string, view: View): Lookup<ResourceTarget> {
    const permission = permissionOf(view.principal.rights);
    const row = this.#placement.byUri.get(uri);
    if (row) {
      const found = this.#foundRow(row);
      if (permission.permits(found.subject)) return found;
    }
    const problem = this.#problemOf(uri);
    // A URI that a tool names as its user interface counts as listed, so the reason against unlisted URIs does not
    // apply.
    const answerer = problem ? this.#namedByTool(uri) : this.#answererOf(uri);
    const found = answerer && this.#found(answerer);
    if (found && permission.permits(found.subject)) return found;
    if (problem) return problem;
    const uris = this.permitted(this.resources, permission).map(({ key }) => key);
    // The failure depends only on the URI, so that it is the same for existing and for missing URIs.
    return this.#isOpen(uri, permission) ? resourceNotFound(uri, uris) : denied("resource", uri, uris);
  }

  /** Returns the rows that the permission permits. */
  permitted<P extends PreparedResource | PreparedTemplate>(rows: readonly P[], permission: Permission): readonly P[] {
    return permission.isNarrowed ? rows.filter((row) => permission.permits(this.#subjectOf(row))) : rows;
  }

  /** Returns the subject of the template shown as `text`, with which rights are compared. */
  templateSubject(row: PreparedTemplate): UriSubject {
    return this.#subjectOf(row);
  }

  /** Returns the source with the prefix of the URI. */
  prefixOwner(uri: string): Source | undefined {
    return this.#prefixed(uri)?.place.part.source;
  }

  #found({ place, target }: Answerer): FoundTarget<ResourceTarget> {
    const name = this.shownUri(place.part.source.id, target.uri);
    const { source } = place.part;
    const subject: UriSubject = {
      type: "uri",
      shown: name,
      own: target.uri,
      prefix: place.prefix,
      source: source.id,
    };
    return { found: true, source, name, subject, target };
  }

  /** Returns true if the caller's rights permit the URI, no matter if a source has it. */
  #isOpen(uri: string, permission: Permission): boolean {
    if (!permission.isNarrowed) return true;
    const prefixed = this.#prefixed(uri);
    const own = prefixed?.own ?? uri;
    const source = prefixed && { source: prefixed.place.part.source.id };
    return permission.permits({ type: "uri", shown: uri, own, prefix: prefixed?.place.prefix ?? "", ...source });
  }

  #foundRow(row: PreparedResource): FoundTarget<ResourceTarget> {
    const { key, record } = row;
    const subject = this.#subjectOf(row);
    const target: ResourceTarget = { type: "resource", uri: record.uri, resource: record };
    return { found: true, source: record.source, name: key, subject, target };
  }

  #subjectOf(row: PreparedResource | PreparedTemplate): UriSubject {
    const { id: source } = row.record.source;
    const prefix = this.#placeOf.get(source)?.prefix ?? "";
    return "template" in row
      ? { type: "uri", shown: row.key, own: row.record.uriTemplate, prefix, isTemplate: true, source }
      : { type: "uri", shown: row.key, own: row.record.uri, prefix, source };
  }

  #answererOf(uri: string): Answerer | undefined {
    const prefixed = this.#prefixed(uri);
    // With a prefix, the URI belongs to that source or to none.
    if (prefixed) return ofPlace(prefixed.place, uri, prefixed.own);
    return this.#bareOwner(uri) ?? this.#offeredBy(uri);
  }

  #prefixed(uri: string): { readonly place: UriPlace; readonly own: string } | undefined {
    const split = splitUriPrefix(uri);
    const place = split && this.#byPrefix.get(split.prefix.toLowerCase());
    return place && { place, own: split.own };
  }

  /** Returns the first source that lists a URI without a prefix, or serves it by a template. */
  #bareOwner(uri: string): Answerer | undefined {
    const canonical = parseUri(uri)?.canonical ?? uri;
    for (const place of this.#places) {
      const row = place.bare.get(canonical);
      if (row) return { place, target: { type: "resource", uri, resource: row.record } };
      const template = templateOf(place.templates, uri, ({ isBare }) => isBare);
      if (template) return { place, target: { type: "resource", uri, template: template.record } };
    }
    return undefined;
  }

  /**
   * Returns the source with a tool that names the URI as user interface. Such URIs have a separate scheme; a URI of any
   * other scheme belongs to the source that offers it.
   */
  #namedByTool(uri: string): Answerer | undefined {
    const prefixed = this.#prefixed(uri);
    const own = prefixed?.own ?? uri;
    const place = this.#places.find((one) => (!prefixed || one === prefixed.place) && one.pages.has(own));
    const isIts =
      schemeOf(own) === PAGE_SCHEME || place === (this.#places.find((one) => offersScheme(one, own)) ?? place);
    return place && isIts ? { place, target: { type: "resource", uri: own } } : undefined;
  }

  /** Returns the probable source of an unlisted URI. */
  #offeredBy(uri: string): Answerer | undefined {
    return this.#namedByTool(uri) ?? this.#sameScheme(uri);
  }

  #serves(place: UriPlace, uri: string): boolean {
    return offersScheme(place, uri) || place.pages.has(uri) || templateOf(place.templates, uri) !== undefined;
  }

  #sameScheme(uri: string): Answerer | undefined {
    const [only, ...others] = this.#places.filter((place) => offersScheme(place, uri));
    return only && others.length === 0 ? { place: only, target: { type: "resource", uri } } : undefined;
  }

  /** Returns the reason why an unlisted URI is refused for every caller, if there is one. */
  #problemOf(uri: string): MissingTarget | undefined {
    const prefixed = this.#prefixed(uri);
    const own = prefixed?.own ?? uri;
    const parsed = parseUri(own);
    // A word without a scheme is an unknown name, and not an invalid URI.
    if (!parsed) return schemeOf(own) === undefined ? undefined : notAUri(uri);
    const prefix = prefixed?.place.prefix ?? "";
    return uri === withUriPrefix(prefix, own) && isCanonical(own, parsed)
      ? undefined
      : notCanonical(uri, withUriPrefix(prefix, parsed.canonical));
  }
}

/** Scheme of user interfaces, as defined by the MCP Apps extension. */
const PAGE_SCHEME = "ui";

/**
 * Returns the resource of a source for a URI with its prefix. The source may also list URIs and templates that start
 * with the same text (`git+ssh://…` of a source `git`).
 */
function ofPlace(place: UriPlace, uri: string, own: string): Answerer | undefined {
  const { part, prefix, templates } = place;
  const canonical = parseUri(own)?.canonical;
  const row =
    part.resources.find(({ key }) => key === own) ?? part.resources.find((one) => one.canonical === canonical);
  if (row) return { place, target: { type: "resource", uri: own, resource: row.record } };
  const whole = templateOf(
    templates,
    uri,
    ({ row, isBare }) => isBare && row.key.toLowerCase().startsWith(prefix.toLowerCase()),
  );
  if (whole) return { place, target: { type: "resource", uri, template: whole.record } };
  const template = templateOf(templates, own);
  if (template) return { place, target: { type: "resource", uri: own, template: template.record } };
  // A server may return links to URIs that it does not list. Only the server knows if they exist, so the hub sends the
  // request.
  return schemeOf(own) !== undefined && servesResources(place, own)
    ? { place, target: { type: "resource", uri: own } }
    : undefined;
}

function servesResources({ part, pages }: UriPlace, uri: string): boolean {
  const { resources, templates, listing } = part;
  return (
    resources.length > 0 ||
    templates.length > 0 ||
    isJsonObject(listing.server?.capabilities["resources"]) ||
    pages.has(uri)
  );
}

/** Returns the most specific template that matches. */
function templateOf(
  templates: readonly PlacedTemplate[],
  uri: string,
  counts: (template: PlacedTemplate) => boolean = () => true,
): PreparedTemplate | undefined {
  let best: PreparedTemplate | undefined;
  for (const placed of templates) {
    const { row } = placed;
    if (!counts(placed) || (best && best.template.literalLength >= row.template.literalLength)) continue;
    if (row.template.match(uri)) best = row;
  }
  return best;
}

function offersScheme({ schemes }: UriPlace, uri: string): boolean {
  const scheme = schemeOf(uri);
  return scheme !== undefined && schemes.has(scheme);
}

function notAUri(uri: string): MissingTarget {
  const message =
    `${shown(uri)} is not a valid URI. Check its host, and percent-encode the characters that a ` +
    "URI must not contain.";
  return { found: false, failure: fail("invalid_params", message) };
}

function notCanonical(uri: string, canonical: string): MissingTarget {
  const advice = `If you mean this, request ${shown(canonical)}`;
  const message = `${shown(uri)} is not in the canonical form of URIs. ${advice}`;
  return { found: false, failure: fail("invalid_params", message, { details: { canonical } }) };
}

const MAX_SHOWN_URI = 2048;

function shown(uri: string): string {
  return uri.length > MAX_SHOWN_URI
    ? `${JSON.stringify(firstChars(uri, MAX_SHOWN_URI)).slice(0, -1)}…"`
    : JSON.stringify(uri);
}

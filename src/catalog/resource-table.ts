import type { View } from "../core/hub-port.ts";
import type { CallTarget } from "../core/provider.ts";
import type { Problem, ResourceRecord, Source } from "../core/records.ts";
import { denied, resourceNotFound, type Lookup } from "./lookup.ts";
import { inListOrder } from "./list-order.ts";
import { permissionOf } from "../core/rights.ts";
import type { Prepared, PreparedTemplate, SourcePart } from "./source-part.ts";
import { hasUiResource } from "./tool-entry.ts";
import { UriPlacement } from "./uri-placement.ts";
import { uriPrefixes } from "./uri-prefixes.ts";

export type ResourceTarget = Extract<CallTarget, { type: "resource" }>;

interface TemplateRow extends PreparedTemplate {
  /** What stands before the source's own URIs where this template is shown. */
  readonly prefix: string;
}

interface Placed {
  readonly source: Source;
  /** The URI as it is shown. */
  readonly name: string;
  readonly target: ResourceTarget;
}

/**
 * Resources and templates of all sources by URI. Where two sources offer one URI the better precedence keeps it; the
 * other's is shown as `namespace+uri` and leads back. Every source can be addressed with its prefix, shadowed or not.
 */
export class ResourceTable {
  /** In the order of lists, as the templates. */
  readonly resources: readonly Prepared<ResourceRecord>[];
  readonly templates: readonly PreparedTemplate[];
  readonly problems: readonly Problem[];
  /** Source id to the URIs that are shown otherwise than the source calls them. */
  readonly rewrites: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly #byUri: ReadonlyMap<string, Prepared<ResourceRecord>>;
  readonly #byTemplate: ReadonlyMap<string, PreparedTemplate>;
  /** In order of precedence. */
  readonly #templates: readonly TemplateRow[];
  readonly #parts: readonly SourcePart[];
  readonly #byPrefix: ReadonlyMap<string, SourcePart>;

  /** `parts` come in order of precedence; `inOwnOrder` are the ids of the sources whose order lists keep. */
  constructor(parts: readonly SourcePart[], inOwnOrder: ReadonlySet<string> = new Set()) {
    this.#parts = parts;
    const prefixes = uriPrefixes(parts);
    this.#byPrefix = new Map(parts.map((part) => [prefixes.get(part)!, part]));
    const placement = new UriPlacement();
    const byUri = new Map<string, Prepared<ResourceRecord>>();
    const byTemplate = new Map<string, PreparedTemplate>();
    this.#templates = parts.flatMap((part) => {
      const from = { source: part.source, prefix: prefixes.get(part)! };
      for (const row of part.resources) placement.place(byUri, row, { ...from, member: "uri" });
      return part.templates.flatMap((row) => {
        const placed = placement.place(byTemplate, row, { ...from, member: "uriTemplate" });
        return placed ? [{ ...placed, prefix: placed.key.slice(0, placed.key.length - row.key.length) }] : [];
      });
    });
    this.#byUri = byUri;
    this.#byTemplate = byTemplate;
    this.resources = inListOrder([...byUri.values()], inOwnOrder);
    this.templates = inListOrder([...byTemplate.values()], inOwnOrder);
    this.problems = placement.problems;
    this.rewrites = placement.rewrites;
  }

  /** The template that is shown as `text`. */
  templateShownAs(text: string): PreparedTemplate | undefined {
    return this.#byTemplate.get(text);
  }

  /** How a source's own URI is shown: the same, unless another source has it too. */
  shownUri(sourceId: string, uri: string): string {
    const listed = this.rewrites.get(sourceId)?.get(uri);
    if (listed !== undefined || this.#byUri.get(uri)?.record.source.id === sourceId) return listed ?? uri;
    const row = this.#templates.find(
      (one) => one.prefix !== "" && one.record.source.id === sourceId && one.template.match(uri),
    );
    return row ? `${row.prefix}${uri}` : uri;
  }

  /**
   * Finds who answers for a URI: the resource that is listed under it; else the template that matches, of the source
   * with the best precedence and there the one with the most literal text; else the source that its prefix names; else
   * the one with a tool whose user interface it is; else the only source that offers URIs of the same scheme. Servers
   * also hand out URIs that they do not list.
   */
  resolve(uri: string, view: View): Lookup<ResourceTarget> {
    const permission = permissionOf(view.principal.rights);
    const listed = this.#listed(uri);
    const placed =
      listed ?? this.#matching(uri) ?? this.#prefixed(uri) ?? this.#namedByTool(uri) ?? this.#sameScheme(uri);
    if (!placed) {
      const permitted = this.resources.map((row) => row.key).filter((key) => permission.permits(key));
      return resourceNotFound(uri, permitted);
    }
    // Rights are held against the URI as it is shown, or another spelling would get around them.
    const isPermitted = listed ? permission.permits(placed.name) : permission.permitsUri(placed.name);
    return isPermitted ? { found: true, ...placed } : denied("resource", uri);
  }

  /** The source whose prefix the URI carries. */
  prefixOwner(uri: string): Source | undefined {
    return this.#byPrefix.get(uri.slice(0, uri.indexOf("+") + 1))?.source;
  }

  #listed(uri: string): Placed | undefined {
    const row = this.#byUri.get(uri);
    return (
      row && {
        source: row.record.source,
        name: uri,
        target: { type: "resource", uri: row.record.uri, resource: row.record },
      }
    );
  }

  #matching(uri: string): Placed | undefined {
    return bestMatch(this.#templates, (row) => (uri.startsWith(row.prefix) ? uri.slice(row.prefix.length) : undefined));
  }

  #prefixed(uri: string): Placed | undefined {
    const end = uri.indexOf("+") + 1;
    const part = end > 0 ? this.#byPrefix.get(uri.slice(0, end)) : undefined;
    if (!part) return undefined;
    const own = uri.slice(end);
    const row = part.resources.find((one) => one.record.uri === own);
    if (row)
      return {
        source: part.source,
        name: this.shownUri(part.source.id, own),
        target: { type: "resource", uri: own, resource: row.record },
      };
    return bestMatch(
      this.#templates.filter((one) => one.record.source.id === part.source.id),
      () => own,
    );
  }

  #namedByTool(uri: string): Placed | undefined {
    const part = this.#parts.find(({ tools }) => tools.some(({ record }) => hasUiResource(record, uri)));
    return part && { source: part.source, name: uri, target: { type: "resource", uri } };
  }

  #sameScheme(uri: string): Placed | undefined {
    const scheme = schemeOf(uri);
    if (scheme === undefined) return undefined;
    const parts = this.#parts.filter((part) =>
      [...part.resources, ...part.templates].some((row) => schemeOf(row.key) === scheme),
    );
    const [only, ...others] = parts;
    return only && others.length === 0
      ? { source: only.source, name: uri, target: { type: "resource", uri } }
      : undefined;
  }
}

/** The best of the first source that has a match. `ownUri` gives the URI as the row's source would call it. */
function bestMatch(rows: readonly TemplateRow[], ownUri: (row: TemplateRow) => string | undefined): Placed | undefined {
  let best: { row: TemplateRow; uri: string } | undefined;
  for (const row of rows) {
    if (best && best.row.record.source.id !== row.record.source.id) break;
    if (best && best.row.template.literalLength >= row.template.literalLength) continue;
    const uri = ownUri(row);
    if (uri !== undefined && row.template.match(uri)) best = { row, uri };
  }
  if (!best) return undefined;
  const { row, uri } = best;
  return {
    source: row.record.source,
    name: `${row.prefix}${uri}`,
    target: { type: "resource", uri, template: row.record },
  };
}

function schemeOf(uri: string): string | undefined {
  const end = uri.indexOf(":");
  return end > 0 && end <= MAX_SCHEME_LENGTH ? uri.slice(0, end).toLowerCase() : undefined;
}

const MAX_SCHEME_LENGTH = 64;

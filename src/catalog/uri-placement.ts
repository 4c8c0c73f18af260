import type { Problem, Source } from "../core/records.ts";
import { renamedRow } from "./renamed-row.ts";
import type { Prepared } from "./source-part.ts";

/** Decides under which URI each resource and template is shown. Earlier sources have the better right to one. */
export class UriPlacement {
  readonly problems: Problem[] = [];
  /** Source id to the URIs that are shown otherwise than the source calls them. */
  readonly rewrites = new Map<string, Map<string, string>>();

  /** The row as it is shown, also noted in `owned`; nothing when even the prefixed URI is taken. */
  place<P extends Prepared<unknown>>(
    owned: Map<string, P>,
    row: P,
    from: { source: Source; prefix: string; member: string },
  ): P | undefined {
    const { source, prefix, member } = from;
    const shown = owned.has(row.key) ? `${prefix}${row.key}` : row.key;
    if (owned.has(shown)) {
      this.#report(source, row.key, `\`${row.key}\` is not offered: other sources have that URI and \`${shown}\`.`);
      return undefined;
    }
    const placed = renamedRow(row, shown, member);
    owned.set(shown, placed);
    if (shown !== row.key) this.#rewrite(source, row.key, shown);
    return placed;
  }

  #rewrite(source: Source, uri: string, shown: string): void {
    let ofSource = this.rewrites.get(source.id);
    if (!ofSource) this.rewrites.set(source.id, (ofSource = new Map()));
    ofSource.set(uri, shown);
    this.#report(source, uri, `\`${uri}\` is offered as \`${shown}\`, since another source has that URI.`);
  }

  #report(source: Source, subject: string, message: string): void {
    this.problems.push({ source: source.id, subject, message });
  }
}

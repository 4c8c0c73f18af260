import type { CallMethod } from "../../core/calls/call.ts";
import { OTHER, type CallStatistics, type LiveCallRow } from "../../core/ports/call-statistics.ts";
import { StatisticsRow, type FinishedCall } from "./statistics-row.ts";

/**
 * Maximum number of sources with separate rows. Reloads may add any number of ids; further ones are counted as `other`.
 */
const MAX_SOURCES = 1000;

interface SourceRows {
  readonly id: string;
  readonly byTool: Map<string, StatisticsRow>;
  /** Rows of the methods other than `tools/call`. The limit of tools does not apply to them. */
  readonly byMethod: Map<CallMethod, StatisticsRow>;
  /** Row of the tools beyond the limit. */
  other: StatisticsRow | undefined;
}

/**
 * Counts calls by tool and source since the start of the hub. The number of rows is limited: only a tool that was found
 * has a row, up to a limit. Names that did not resolve share one row for each method.
 */
export class CallCounts implements CallStatistics {
  readonly #maxTools: number;
  readonly #bySource = new Map<string, SourceRows>();
  readonly #unresolved = createRows("");
  #otherSources: SourceRows | undefined;
  #toolCount = 0;

  constructor(maxTools: number) {
    this.#maxTools = maxTools;
  }

  /** Counts a call. A listener of the pipeline, so it is bound to this object. */
  readonly add = (call: FinishedCall): void => this.#rowFor(call).add(call);

  rows(): readonly LiveCallRow[] {
    const all = [this.#unresolved, ...this.#bySource.values(), ...(this.#otherSources ? [this.#otherSources] : [])];
    return all.flatMap(({ byTool, byMethod, other }) => [
      ...byTool.values(),
      ...(other ? [other] : []),
      ...byMethod.values(),
    ]);
  }

  #rowFor({ source, target, method }: FinishedCall): StatisticsRow {
    const rows = source === undefined ? this.#unresolved : (this.#bySource.get(source) ?? this.#rowsFor(source));
    if (method === "tools/call" && source !== undefined) return rows.byTool.get(target) ?? this.#toolRow(rows, target);
    let row = rows.byMethod.get(method);
    if (!row) rows.byMethod.set(method, (row = new StatisticsRow({ source: rows.id, tool: "", method })));
    return row;
  }

  #toolRow(rows: SourceRows, tool: string): StatisticsRow {
    const key = { source: rows.id, method: "tools/call" } as const;
    if (this.#toolCount >= this.#maxTools || rows === this.#otherSources)
      return (rows.other ??= new StatisticsRow({ ...key, tool: OTHER }));
    this.#toolCount += 1;
    const row = new StatisticsRow({ ...key, tool });
    rows.byTool.set(tool, row);
    return row;
  }

  #rowsFor(source: string): SourceRows {
    if (this.#bySource.size >= MAX_SOURCES) return (this.#otherSources ??= createRows(OTHER));
    const rows = createRows(source);
    this.#bySource.set(source, rows);
    return rows;
  }
}

function createRows(id: string): SourceRows {
  return { id, byTool: new Map(), byMethod: new Map(), other: undefined };
}

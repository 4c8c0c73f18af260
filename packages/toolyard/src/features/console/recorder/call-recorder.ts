import type { CallFigures, CallList, CallRecord } from "../api-types.ts";
import { Emitter } from "../../../core/events.ts";
import { durationOf, recordOf, type KeptCall, type RecordedCall } from "./call-record.ts";

/** Counts of one caller since the start of the hub. */
interface Tally {
  calls: number;
  errors: number;
  lastCall: string;
  readonly programs: Set<string>;
}

interface Minute {
  at: number;
  calls: number;
  errors: number;
}

const MINUTE_MS = 60_000;
/** Number of minutes for which calls are counted. */
export const KEPT_MINUTES = 60;
/** Maximum number of callers that are counted. Above it, the caller with the oldest last call is removed. */
const MAX_TALLIES = 2000;
const MAX_PROGRAMS = 8;
type Percentiles = Pick<CallFigures, "p50" | "p95" | "p99">;
const NO_FIGURES: CallFigures = Object.freeze({ calls: 0, errors: 0 });

export interface CallerTally extends CallFigures {
  readonly id: string;
  readonly lastCall: string;
  readonly programs: readonly string[];
}

/** The last calls of a hub, in a ring of fixed size, with counts since its start. */
export class CallRecorder {
  /** Event for each new call. Emitted only while there are listeners. */
  readonly added = new Emitter<CallRecord>();
  readonly #ring: KeptCall[] = [];
  readonly #size: number;
  readonly #now: () => number;
  readonly #callers = new Map<string, Tally>();
  readonly #minutes: Minute[] = [];
  #next = 0;
  #count = 0;
  #errors = 0;

  constructor(size: number, now: () => number = Date.now) {
    this.#size = size;
    this.#now = now;
  }

  /** Figures since the start of the hub, without calls that other calls made. */
  get total(): CallFigures {
    return { ...this.counts, ...percentiles(this.#newest()) };
  }

  /** Counts like `total`, without percentiles. */
  get counts(): { readonly calls: number; readonly errors: number } {
    return { calls: this.#count, errors: this.#errors };
  }

  /** Number of the last call; 0 before the first one. */
  get lastNumber(): number {
    return this.#next;
  }

  /** Adds a finished call. A call that began before the recorder was in use has no times and is not recorded. */
  add(seen: RecordedCall, times: readonly number[] | undefined): void {
    if (!times) return;
    this.#next += 1;
    const call = { number: this.#next, seen, times, endedAt: performance.now() };
    this.#ring[(this.#next - 1) % this.#size] = call;
    if (seen.parent === undefined) this.#countCall(seen);
    if (this.added.size > 0) this.added.emit(recordOf(call));
  }

  /** Returns the newest calls that match, newest first, and the number of all calls that match. */
  find(matches: (call: RecordedCall) => boolean, limit: number): CallList {
    const found = this.#newest().filter(({ seen }) => matches(seen));
    return { calls: found.slice(0, limit).map(recordOf), total: found.length };
  }

  /** Returns the kept calls with a number above `number`, oldest first. */
  after(number: number): readonly CallRecord[] {
    const missed = Math.min(this.#next - number, this.#next, this.#size);
    return Array.from({ length: Math.max(0, missed) }, (_, at) => recordOf(this.#at(missed - 1 - at)));
  }

  /** Returns the kept call that was recorded `back` calls before the last one. */
  #at(back: number): KeptCall {
    return this.#ring[(this.#next - 1 - back) % this.#size]!;
  }

  #newest(): readonly KeptCall[] {
    const length = Math.min(this.#next, this.#size);
    return Array.from({ length }, (_, back) => this.#at(back));
  }

  #countCall(seen: RecordedCall): void {
    const isError = isFailure(seen.kind);
    const at = Math.floor(this.#now() / MINUTE_MS);
    const last = this.#minutes.at(-1);
    const minute = last?.at === at ? last : this.#newMinute(at);
    this.#count += 1;
    minute.calls += 1;
    if (isError) {
      this.#errors += 1;
      minute.errors += 1;
    }
    count(this.#callers, seen);
  }

  /** Returns the percentiles of the kept calls of each source, by its id. */
  percentilesBySource(): ReadonlyMap<string, Percentiles> {
    const kept = groupBy(this.#newest(), ({ seen: { source = "" } }) => source);
    return new Map(Array.from(kept, ([id, calls]) => [id, percentiles(calls)]));
  }

  /** Returns the figures of one tool, from the calls that are kept. */
  ofTool(name: string): CallFigures {
    const calls = this.#newest().filter(({ seen }) => seen.target === name);
    if (calls.length === 0) return NO_FIGURES;
    const errors = calls.filter(({ seen }) => isFailure(seen.kind)).length;
    return { calls: calls.length, errors, ...percentiles(calls) };
  }

  callers(): readonly CallerTally[] {
    const kept = groupBy(this.#newest(), ({ seen }) => seen.principal);
    return Array.from(this.#callers, ([id, { calls, errors, lastCall, programs }]) => ({
      id,
      calls,
      errors,
      ...percentiles(kept.get(id) ?? []),
      lastCall,
      programs: [...programs],
    }));
  }

  /** Returns calls and errors of the last minutes, oldest first. */
  minutes(): readonly { readonly calls: number; readonly errors: number }[] {
    const now = Math.floor(this.#now() / MINUTE_MS);
    const known = new Map(this.#minutes.map((minute) => [minute.at, minute]));
    return Array.from({ length: KEPT_MINUTES }, (_, index) => {
      const { calls = 0, errors = 0 } = known.get(now - KEPT_MINUTES + 1 + index) ?? {};
      return { calls, errors };
    });
  }

  #newMinute(at: number): Minute {
    const fresh = { at, calls: 0, errors: 0 };
    this.#minutes.push(fresh);
    if (this.#minutes.length > KEPT_MINUTES) this.#minutes.shift();
    return fresh;
  }
}

/** Returns true for a failed call. A call that its caller cancelled does not count as failed. */
export function isFailure(outcome: string): boolean {
  return outcome !== "ok" && outcome !== "cancelled";
}

function count(tallies: Map<string, Tally>, { principal, kind, time, client }: RecordedCall): void {
  let known = tallies.get(principal);
  if (known) {
    // The caller is moved to the end, so that the map stays in the order of the last calls.
    if (tallies.size > 1) tallies.delete(principal);
  } else known = { calls: 0, errors: 0, lastCall: time, programs: new Set() };
  known.calls += 1;
  if (isFailure(kind)) known.errors += 1;
  known.lastCall = time;
  if (client !== undefined && known.programs.size < MAX_PROGRAMS) known.programs.add(client);
  tallies.set(principal, known);
  if (tallies.size > MAX_TALLIES) tallies.delete(tallies.keys().next().value!);
}

function percentiles(calls: readonly KeptCall[]): Percentiles {
  if (calls.length === 0) return {};
  const sorted = Float64Array.from(calls, durationOf).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function groupBy(calls: readonly KeptCall[], keyOf: (call: KeptCall) => string): Map<string, KeptCall[]> {
  const groups = new Map<string, KeptCall[]>();
  for (const call of calls) {
    const group = groups.get(keyOf(call));
    if (group) group.push(call);
    else groups.set(keyOf(call), [call]);
  }
  return groups;
}

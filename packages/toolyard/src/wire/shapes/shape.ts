import { withoutHidden } from "../../core/text/hidden-text.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { firstChars } from "../../core/text/truncate.ts";

/**
 * Permitted values at one place of a message. If a value is valid, a shape returns the value itself, so that a valid
 * definition stays the same object. If some parts are invalid and the rest has a clear meaning, it returns a copy
 * without these parts; otherwise `UNFIT`. Each invalid part is noted once.
 */
export interface Shape {
  /** Expected value, as words that follow "must be" in a message. */
  readonly noun: string;
  /** Returns true if `read` would return the value itself without a fault. It is faster, and nearly all values fit. */
  readonly fits: (value: unknown) => boolean;
  read(value: unknown, at: Path, faults: Faults): unknown;
}

export const UNFIT: unique symbol = Symbol("unfit");

/** Path as a linked list from the innermost member outwards, of names and indexes. `undefined` is the whole value. */
export type Path = { readonly step: string | number; readonly above: Path } | undefined;

export interface Fault {
  /** Readable path: `annotations.readOnlyHint`, `icons[1].src`. */
  readonly member: string;
  /** Expected and received value: "`title` must be text, got null". */
  readonly reason: string;
  /** Description of the repair, as words that follow a colon. */
  readonly remedy: string;
}

/** Maximum number of faults that are described; further faults are only counted. */
const MAX_FAULTS = 8;

/** Collects the faults of one value. */
export class Faults {
  readonly list: Fault[] = [];
  count = 0;
  /** Reason of the last fault. If a whole value is refused, it is the cause. */
  latest = "";

  note(at: Path, reason: (member: string) => string, remedy = LEFT_OUT): void {
    this.count += 1;
    const member = memberName(at);
    this.latest = reason(member);
    if (this.list.length < MAX_FAULTS) this.list.push({ member, reason: this.latest, remedy });
  }

  /**
   * Records a fault for a value that its shape refused, unless the shape recorded a more specific fault inside the
   * value.
   */
  noteUnfit({ noun }: Shape, value: unknown, { at, before, remedy }: ShapeRefusal): void {
    if (this.count === before) this.note(at, (member) => mustBe(member, noun, value), remedy);
  }
}

interface ShapeRefusal {
  readonly at: Path;
  /** Number of faults before the shape read the value. */
  readonly before: number;
  readonly remedy?: string | undefined;
}

const LEFT_OUT = "left out";

function memberName(at: Path): string {
  const steps: string[] = [];
  for (let path = at; path; path = path.above)
    steps.unshift(typeof path.step === "number" ? `[${path.step}]` : `.${path.step}`);
  return withoutHidden(steps.join("").replace(/^\./, ""));
}

export function mustBe(member: string, noun: string, value: unknown): string {
  return `\`${member}\` must be ${noun}, got ${received(value)}`;
}

/** Maximum number of characters of an invalid text that a message quotes. */
const MAX_SHOWN_CHARS = 40;

function received(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") {
    const shown = withoutHidden(value);
    return JSON.stringify(shown.length > MAX_SHOWN_CHARS ? `${firstChars(shown, MAX_SHOWN_CHARS)}…` : shown);
  }
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** Returns a shape for a value that cannot be repaired in part. */
function whole(noun: string, fits: (value: unknown) => boolean): Shape {
  return { noun, fits, read: (value) => (fits(value) ? value : UNFIT) };
}

export const TEXT = whole("text", (value) => typeof value === "string");
export const FLAG = whole("true or false", (value) => typeof value === "boolean");
export const INTEGER = whole("an integer", (value) => Number.isInteger(value) || typeof value === "bigint");
export const TEXT_OR_INTEGER = whole("text or an integer", (value) => typeof value === "string" || INTEGER.fits(value));
export const FRACTION = whole("a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1);
export const OBJECT = whole("an object", isJsonObject);

/** RFC 3339 with seconds and a zone, and with an existing day. */
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

export const MOMENT = whole("a time such as 2026-01-31T12:00:00Z", (value) => {
  const parts = typeof value === "string" ? DATE_TIME.exec(value) : null;
  if (!parts) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
});

function daysIn(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeapYear ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

export function oneOf(...words: readonly string[]): Shape {
  const noun = words.map((word) => `"${word}"`).join(" or ");
  return whole(noun, (value) => typeof value === "string" && words.includes(value));
}

function allFit(item: Shape, values: readonly unknown[]): boolean {
  for (const value of values) if (!item.fits(value)) return false;
  return true;
}

/** Returns a shape for a list, from which invalid items are removed. */
export function listOf(item: Shape): Shape {
  return {
    noun: "a list",
    fits: (value) => Array.isArray(value) && allFit(item, value),
    read(value, at, faults) {
      if (!Array.isArray(value)) return UNFIT;
      let items: unknown[] | undefined;
      for (const [index, given] of value.entries()) {
        const read = readPart(item, given, { at: { step: index, above: at }, faults });
        if (read !== given) items ??= value.slice(0, index);
        if (items && read !== UNFIT) items.push(read);
      }
      return items ?? value;
    },
  };
}

/** Returns a shape for an object with any names, from which invalid members are removed. */
export function mapOf(item: Shape): Shape {
  return {
    noun: "an object",
    fits: (value) => isJsonObject(value) && allFit(item, Object.values(value)),
    read(value, at, faults) {
      if (!isJsonObject(value)) return UNFIT;
      let changes: Map<string, unknown> | undefined;
      for (const name of Object.keys(value)) {
        const given = value[name];
        const read = readPart(item, given, { at: { step: name, above: at }, faults });
        if (read !== given) (changes ??= new Map()).set(name, read);
      }
      return changes ? changed(value, changes) : value;
    },
  };
}

export interface MemberShapes {
  /** Required members. Without one of them, the object is refused. */
  readonly required?: Readonly<Record<string, Shape>>;
  /** Optional members. They are removed if they are invalid. */
  readonly optional?: Readonly<Record<string, Shape>>;
}

/** Returns a shape for an object with known members. Unknown members stay unchanged. */
export function members({ required = {}, optional = {} }: MemberShapes): Shape {
  const needed = Object.keys(required);
  const further = Object.keys(optional);
  return {
    noun: "an object",
    fits(value) {
      if (!isJsonObject(value)) return false;
      for (const name of needed) if (!required[name]!.fits(value[name])) return false;
      for (const name of further) if (value[name] !== undefined && !optional[name]!.fits(value[name])) return false;
      return true;
    },
    read(value, at, faults) {
      if (!isJsonObject(value)) return UNFIT;
      let changes: Map<string, unknown> | undefined;
      for (const name of needed) {
        const given = value[name];
        const read = readPart(required[name]!, given, { at: { step: name, above: at }, faults });
        if (read === UNFIT) return UNFIT;
        if (read !== given) (changes ??= new Map()).set(name, read);
      }
      for (const name of further) {
        const given = value[name];
        if (given === undefined) continue;
        const read = readPart(optional[name]!, given, { at: { step: name, above: at }, faults });
        if (read !== given) (changes ??= new Map()).set(name, read);
      }
      return changes ? changed(value, changes) : value;
    },
  };
}

interface PartPlace {
  readonly at: Path;
  readonly faults: Faults;
  readonly remedy?: string;
}

/** Reads a part of a value, and records a fault if it does not fit. */
export function readPart(shape: Shape, value: unknown, { at, faults, remedy }: PartPlace): unknown {
  if (shape.fits(value)) return value;
  const before = faults.count;
  const read = shape.read(value, at, faults);
  if (read === UNFIT) faults.noteUnfit(shape, value, { at, before, remedy });
  return read;
}

/** Returns a copy with other values for some members, in the same order. A member with `UNFIT` is omitted. */
export function changed(object: JsonObject, changes: ReadonlyMap<string, unknown>): JsonObject {
  const entries = Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    if (!changes.has(name)) return [[name, value]];
    const change = changes.get(name);
    return change === UNFIT ? [] : [[name, change]];
  });
  const added = [...changes].filter(([name, change]) => change !== UNFIT && !Object.hasOwn(object, name));
  return Object.fromEntries([...entries, ...added]);
}

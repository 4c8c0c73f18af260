/* oxlint-disable max-lines-per-function -- Runs inside the sandbox by its own text, so all of it is one function. */
import type { GuestHost } from "./host.ts";
import type { GuestValues } from "./inspect.ts";

/** Runs inside the sandbox. Returns `console`, which writes to the two streams of the run. */
export function guestConsole(host: GuestHost, { inspect, toJson }: GuestValues): object {
  const counts = new Map<string, number>();
  const started = new Map<string, number>();
  let indent = "";

  function format(values: readonly unknown[]): string {
    const [first, ...rest] = values;
    let words = typeof first === "string" ? first : inspect(first);
    if (typeof first === "string" && first.includes("%")) {
      words = first.replace(/%([sdifjoOc%])/g, (whole, kind: string) => {
        if (kind === "%") return "%";
        if (rest.length === 0) return whole;
        return one(kind, rest.shift());
      });
    }
    return [words, ...rest.map((value) => inspect(value))].join(" ");
  }

  function one(kind: string, value: unknown): string {
    if (kind === "c") return "";
    if (kind === "d" || kind === "f") return String(typeof value === "object" ? Number.NaN : Number(value));
    if (kind === "i") return String(Math.trunc(Number(value)));
    if (kind === "j") return String(toJson(value));
    return inspect(value);
  }

  function print(stream: string, values: readonly unknown[]): void {
    const words = values.length === 0 ? "" : format(values);
    host("print", stream, `${indent === "" ? words : indent + words.split("\n").join(`\n${indent}`)}\n`);
  }

  const out = (...values: unknown[]): void => print("stdout", values);
  const err = (...values: unknown[]): void => print("stderr", values);
  const spent = (label: string): string =>
    `${label}: ${Math.round((performance.now() - (started.get(label) ?? performance.now())) * 1000) / 1000}ms`;
  return {
    log: out,
    info: out,
    debug: out,
    dir: (value: unknown) => out(value),
    dirxml: out,
    table: (rows: unknown) => out(rows),
    error: err,
    warn: err,
    trace: (...values: unknown[]) => err("Trace:", ...values),
    assert: (condition: unknown, ...values: unknown[]) => void (condition || err("Assertion failed", ...values)),
    group: (...values: unknown[]) => {
      if (values.length > 0) out(...values);
      indent += "  ";
    },
    groupCollapsed: () => void (indent += "  "),
    groupEnd: () => void (indent = indent.slice(2)),
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      out(`${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default") => void counts.delete(label),
    time: (label = "default") => void started.set(label, performance.now()),
    timeLog: (label = "default", ...values: unknown[]) => out(spent(label), ...values),
    timeEnd: (label = "default") => {
      out(spent(label));
      started.delete(label);
    },
    clear: () => {},
  };
}

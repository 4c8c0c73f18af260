import type { TimeEntry } from "../language/model.ts";
import { nearest } from "../language/nearest.ts";
import type { CheckContext } from "./context.ts";
import { firstChars } from "toolyard/text";

const WORDS = ["Static", "Dynamic", "Discrete", "Continuous"];
const KEYS = ["Time", "DiscreteTime", "ContinuousTime", "ModelTimeHorizon"];
/** Pairs of settings that exclude each other. */
const OPPOSITES: readonly (readonly [string, string])[] = [
  ["Static", "Dynamic"],
  ["Discrete", "Continuous"],
  ["DiscreteTime", "ContinuousTime"],
];

/** Checks the Time section: known words, no contradictions, an existing time variable, a valid horizon. */
export function checkTime(context: CheckContext): void {
  const { view, profile, reporter } = context;
  const [first] = view.time;
  if (!first) return;
  if (profile.timeKindFirst && first.key !== "Static" && first.key !== "Dynamic")
    reporter.report({
      code: "E014",
      span: first.span,
      message:
        `The first line of Time is ${JSON.stringify(first.key)}; ` +
        `the profile ${profile.name} requires Static or Dynamic there.`,
    });
  const said = new Set<string>();
  for (const entry of view.time) {
    checkEntry(context, entry);
    checkOpposites(context, entry, said);
    said.add(entry.key);
  }
  // The last entry of a key applies. Looks up each name once per key.
  for (const entry of new Map(view.time.map((one) => [one.key, one])).values())
    if (entry.key === "ModelTimeHorizon") checkHorizon(context, entry);
    else if (KEYS.includes(entry.key)) checkVariable(context, entry);
}

function checkEntry(context: CheckContext, entry: TimeEntry): void {
  const { key, value } = entry;
  if (!WORDS.includes(key) && !KEYS.includes(key)) unknown(context, entry);
  else if (KEYS.includes(key) && !value) noValue(context, entry);
}

function unknown({ reporter }: CheckContext, { key, span }: TimeEntry): void {
  const near = nearest(key, [...WORDS, ...KEYS]);
  reporter.report({
    code: "E014",
    span,
    message: `${JSON.stringify(firstChars(key, 60))} is not a setting of Time.`,
    mend: near === undefined ? `Write one of ${WORDS.join(", ")}, or ${KEYS.join("=…, ")}=….` : `Write ${near}.`,
  });
}

function noValue({ reporter }: CheckContext, { key, span }: TimeEntry): void {
  reporter.report({ code: "E014", span, message: `${key} has no value.`, mend: `Write ${key}=….` });
}

function checkOpposites({ reporter }: CheckContext, { key, span }: TimeEntry, said: ReadonlySet<string>): void {
  if (said.has(key))
    reporter.report({ code: "W007", span, message: `${key} is stated twice; the later statement applies.` });
  for (const pair of OPPOSITES) {
    const other = pair.find((word) => word !== key);
    if (!pair.includes(key) || !said.has(other!)) continue;
    reporter.report({ code: "E014", span, message: `${key} contradicts ${other}.` });
  }
}

function checkHorizon({ view, reporter }: CheckContext, { value }: TimeEntry): void {
  if (!value) return;
  const { text, span } = value;
  if (/^"?unbounded/i.test(text) || (/^\d+(?:\.\d+)?$/.test(text) && Number(text) > 0)) return;
  if (view.parameters.some(({ key }) => key.text === text)) return;
  const message = `${JSON.stringify(text)} is not a horizon.`;
  reporter.report({
    code: "E014",
    span,
    message,
    mend: "Write a number above 0, Unbounded, or the name of a parameter.",
  });
}

/** Reports an undeclared time variable. A time that is only an index, as in `s_t`, needs no declaration. */
function checkVariable({ variables, declares, profile, reporter }: CheckContext, { key, value }: TimeEntry): void {
  if (!declares || !value) return;
  const { text, span } = value;
  if (variables.find(text)) return;
  const isIndex = [...variables.names()].some((name) => name.replace(/[+-]\d+$/, "").endsWith(`_${text}`));
  if (isIndex && !profile.timeKindFirst) return;
  reporter.report({
    code: "W011",
    ...(profile.timeKindFirst && key !== "Time" ? { severity: "error" } : {}),
    span,
    message: `The time variable ${text} is not declared.`,
    mend: `Declare ${text}[1,type=int] in StateSpaceBlock.`,
  });
}

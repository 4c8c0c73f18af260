import { parseGnn } from "../language/parse.ts";
import { printGnn } from "../language/print.ts";

export interface TemplateOptions {
  readonly name: string;
  readonly states: number;
  readonly observations: number;
  readonly actions: number;
}

/** Limits of a template's values. */
export const TEMPLATE_LIMITS = { name: 100, size: 64 } as const;

/** Templates for new models. Each is valid without changes. */
export const TEMPLATES = {
  perception: "static: observations and the hidden state that causes them",
  hmm: "dynamic, without actions",
  pomdp: "dynamic, with actions, preferences and policies",
} as const;

export type TemplateName = keyof typeof TEMPLATES;

/**
 * Creates a model from a template, in the canonical layout.
 * @example
 * ```ts
 * import { checkGnn, newModel } from "@toolyard/gnn";
 *
 * console.log(checkGnn(newModel("pomdp", { name: "Thermostat", states: 3, observations: 3, actions: 2 })).isValid);
 * ```
 */
export function newModel(template: TemplateName, options: TemplateOptions): string {
  return printGnn(parseGnn(textOf(template, options)).file);
}

function textOf(template: TemplateName, options: TemplateOptions): string {
  const isDynamic = template !== "perception";
  const acts = template === "pomdp";
  const { name } = options;
  const identifier = name.replaceAll(/[^\p{L}\p{N}]+/gu, "") || "Model";
  return [
    `# ${name}`,
    `## GNNSection\n${identifier}`,
    "## GNNVersionAndFlags\nGNN v1",
    `## ModelName\n${name}`,
    `## ModelAnnotation\nTemplate: ${TEMPLATES[template]}.`,
    `## StateSpaceBlock\n${variables(options, isDynamic, acts)}`,
    `## Connections\n${connections(isDynamic, acts)}`,
    `## InitialParameterization\n${values(options, isDynamic, acts)}`,
    `## Time\n${isDynamic ? "Dynamic\nDiscreteTime=t\nModelTimeHorizon=20" : "Static"}`,
    `## ActInfOntologyAnnotation\n${terms(isDynamic, acts)}`,
    `## Footer\nEnd of ${name}`,
    "## Signature\nnone\n",
  ].join("\n");
}

function variables({ states, observations, actions }: TemplateOptions, isDynamic: boolean, acts: boolean): string {
  return [
    `A[${observations},${states},type=float]  # observation given state`,
    `D[${states},type=float]  # prior over states`,
    `s[${states},1,type=float]  # belief`,
    `o[${observations},1,type=int]`,
    ...(isDynamic
      ? [
          `B[${states},${states},${acts ? actions : 1},type=float]  # next state, state, action`,
          `s_prime[${states},1,type=float]`,
          "t[1,type=int]",
        ]
      : []),
    ...(acts
      ? [
          `C[${observations},type=float]  # log preference over observations`,
          `π[${actions},type=float]`,
          "u[1,type=int]",
          "G[π,type=float]",
        ]
      : []),
  ].join("\n");
}

function connections(isDynamic: boolean, acts: boolean): string {
  const always = ["D>s", "s-A", "A-o"];
  const moves = isDynamic ? ["s-B", "B>s_prime"] : [];
  return [...always, ...moves, ...(acts ? ["C>G", "G>π", "π>u", "u>s_prime"] : [])].join("\n");
}

function values({ states, observations, actions }: TemplateOptions, isDynamic: boolean, acts: boolean): string {
  const lines = [`A={${likelihood(observations, states)}}`, `D={(${uniform(states)})}`];
  if (isDynamic) lines.push(`B={${transitions(states, acts ? actions : 1)}}`);
  if (acts)
    lines.push(`C={(${Array.from({ length: observations }, (_, at) => (at === 0 ? "1.0" : "0.0")).join(", ")})}`);
  return lines.join("\n");
}

/** Returns a likelihood in which each state mostly causes one observation. */
function likelihood(observations: number, states: number): string {
  const rest = observations === 1 ? 0 : 0.2 / (observations - 1);
  const high = observations === 1 ? 1 : 0.8;
  return rows(observations, states, (row, column) => (row === column % observations ? high : rest));
}

/**
 * Returns transitions of states in a row: the first action moves back, the second stays, and each further action moves
 * one step further.
 */
function transitions(states: number, actions: number): string {
  const go = actions === 1 ? wander : (previous: number, step: number) => [[previous + step - 1, 1] as const];
  const cell = (next: number, previous: number, action: number): string => {
    const shares = go(previous, action).map(([to, share]) => (clamped(to, states) === next ? share : 0));
    return digits(shares.reduce((sum, share) => sum + share, 0));
  };
  const column = (next: number, previous: number): string =>
    `(${Array.from({ length: actions }, (_, action) => cell(next, previous, action)).join(", ")})`;
  const row = (next: number): string =>
    `(${Array.from({ length: states }, (_, previous) => column(next, previous)).join(", ")})`;
  return Array.from({ length: states }, (_, next) => `\n  ${row(next)}`).join(",") + "\n";
}

/** Returns transitions without actions: the state moves on with a small probability. */
function wander(previous: number): readonly (readonly [number, number])[] {
  return [
    [previous, 0.8],
    [previous + 1, 0.2],
  ];
}

function clamped(place: number, states: number): number {
  return Math.min(Math.max(place, 0), states - 1);
}

function rows(count: number, columns: number, valueAt: (row: number, column: number) => number): string {
  const row = (at: number): string =>
    `(${Array.from({ length: columns }, (_, column) => digits(valueAt(at, column))).join(", ")})`;
  return Array.from({ length: count }, (_, at) => `\n  ${row(at)}`).join(",") + "\n";
}

function uniform(length: number): string {
  return Array.from({ length }, () => digits(1 / length)).join(", ");
}

function digits(value: number): string {
  return String(Number(value.toFixed(12)));
}

function terms(isDynamic: boolean, acts: boolean): string {
  const always = ["A=LikelihoodMatrix", "D=PriorOverHiddenStates", "s=HiddenState", "o=Observation"];
  const moves = isDynamic ? ["B=TransitionMatrix", "s_prime=NextHiddenState", "t=Time"] : [];
  const decides = ["C=LogPreferenceVector", "π=PolicyVector", "u=Action", "G=ExpectedFreeEnergy"];
  return [...always, ...moves, ...(acts ? decides : [])].join("\n");
}

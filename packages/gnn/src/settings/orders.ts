import type { Parameter } from "../language/model.ts";

/** Letters of tensors whose index order a model can state. */
export type OrderedLetter = "A" | "B";

/** Axes of each tensor in GNN's own order. */
export const AXES = { A: ["observation", "state"], B: ["next", "previous", "action"] } as const;

/** An index order that ModelParameters states for a tensor. */
export interface StatedOrder {
  /** Name of the parameter, such as `b_tensor_order`. */
  readonly parameter: string;
  /** Axes in written order. A `B` without actions may omit `action`. */
  readonly axes: readonly string[];
}

/** A parameter whose value is not an index order. */
export interface UnknownOrder {
  readonly parameter: Parameter;
  readonly letter: OrderedLetter;
}

/** Words of an order, singular or plural, with their axes. A word with an empty axis is ignored. */
const WORDS = {
  A: { observation: "observation", obs: "observation", outcome: "observation", state: "state", hidden: "" },
  B: {
    next: "next",
    previous: "previous",
    prev: "previous",
    current: "previous",
    action: "action",
    control: "action",
    state: "",
  },
} as const satisfies Readonly<Record<OrderedLetter, Readonly<Record<string, string>>>>;

const PARAMETER = /^(.+)_tensor_order$/;

/**
 * Index orders that the model states, for all tensors of a letter (`b_tensor_order`) or for one tensor
 * (`B_f1_tensor_order`).
 */
export class StatedOrders {
  readonly unknown: readonly UnknownOrder[];
  readonly #byName = new Map<string, StatedOrder>();

  constructor(parameters: readonly Parameter[]) {
    const unknown: UnknownOrder[] = [];
    for (const parameter of parameters) {
      const name = PARAMETER.exec(parameter.key.text)?.[1];
      const letter = name === undefined ? undefined : letterOf(name);
      if (name === undefined || letter === undefined) continue;
      const axes = axesOf(textOf(parameter), letter);
      const key = name.length === 1 || !/^[AB]/.test(name) ? letter : name;
      if (axes) this.#byName.set(key, { parameter: parameter.key.text, axes });
      else unknown.push({ parameter, letter });
    }
    this.unknown = unknown;
  }

  /** Returns the order of the tensor, if the model states one. */
  of(name: string, letter: OrderedLetter): StatedOrder | undefined {
    return this.#byName.get(name) ?? this.#byName.get(letter);
  }
}

/** Returns whether a parameter states an order. */
export function isOrderParameter(name: string): boolean {
  const tensor = PARAMETER.exec(name)?.[1];
  return tensor !== undefined && letterOf(tensor) !== undefined;
}

/**
 * Returns the letter of a tensor's name: `b`, `B`, `B_f1` and `transition` are transitions; `a`, `A`, `A_m0` and
 * `likelihood` are likelihoods.
 */
function letterOf(name: string): OrderedLetter | undefined {
  if (name === "transition" || /^(?:b|B(?:_.+)?)$/.test(name)) return "B";
  return name === "likelihood" || /^(?:a|A(?:_.+)?)$/.test(name) ? "A" : undefined;
}

function textOf({ value }: Parameter): string {
  return value.kind === "word" || value.kind === "string" ? value.text : "";
}

/** Parses `next_state_previous_state_action` and shorter forms. Returns undefined for anything else. */
function axesOf(text: string, letter: OrderedLetter): readonly string[] | undefined {
  const known: Readonly<Record<string, string>> = WORDS[letter];
  const words = text
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  const axisOf = (word: string): string | undefined => (Object.hasOwn(known, word) ? known[word] : undefined);
  const axes = words.map((word) => axisOf(word) ?? axisOf(word.replace(/s$/, ""))).filter((axis) => axis !== "");
  if (axes.includes(undefined) || new Set(axes).size !== axes.length) return undefined;
  const needed = AXES[letter].filter((axis) => axis !== "action");
  return needed.every((axis) => axes.includes(axis)) ? (axes as string[]) : undefined;
}

/** Returns the ModelParameters line of an order: `b_tensor_order: action_next_state_previous_state`. */
export function orderLine(letter: OrderedLetter, layout: string): string {
  const words = layout.split(" × ").map((axis) => (axis === "next" || axis === "previous" ? `${axis}_state` : axis));
  return `${letter.toLowerCase()}_tensor_order: ${words.join("_")}`;
}

/** Returns advice for a tensor that fits several orders. */
export function orderAdvice(letter: OrderedLetter, layouts: readonly string[]): string {
  return `State the order in ModelParameters: ${layouts.map((layout) => orderLine(letter, layout)).join(", or ")}.`;
}

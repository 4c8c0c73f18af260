import type { Value } from "../language/model.ts";
import type { ModelView } from "../language/view.ts";
import { LABEL_NAMES, type LabelKind } from "./names.ts";
import { statedParameters } from "./parameters.ts";

/** Labels that a model states for its actions, states and outcomes: one list, or one for each factor or modality. */
export interface StatedLabels {
  /** Name of the parameter. */
  readonly parameter: string;
  readonly lists: readonly (readonly string[])[];
}

/** Returns the labels of one kind, if the model states some. */
export function labelsOf(view: ModelView, kind: LabelKind): StatedLabels | undefined {
  const names: readonly string[] = LABEL_NAMES[kind];
  const parameter = statedParameters(view).findLast(({ key }) => names.includes(key.text));
  if (!parameter) return undefined;
  const { value, key } = parameter;
  const isNested = value.kind === "group" && value.items.some((item) => item.kind === "group");
  const lists = isNested ? value.items.map(labelsIn) : [labelsIn(value)];
  return { parameter: key.text, lists };
}

function labelsIn(value: Value): readonly string[] {
  if (value.kind === "group") return value.items.flatMap(labelsIn);
  if (value.kind === "number") return [value.text ?? String(value.value)];
  if (value.kind === "entry") return [];
  return value.text
    .split(/[,;]/)
    .map((label) => label.trim())
    .filter((label) => label !== "");
}

/**
 * Assigns labels to lengths. A single list belongs to the first length above 1 that it fits. Several lists belong to
 * the lengths in order.
 */
export function assignLabels(
  stated: StatedLabels | undefined,
  lengths: readonly number[],
): readonly (readonly string[] | undefined)[] {
  if (!stated) return lengths.map(() => undefined);
  if (stated.lists.length > 1)
    return lengths.map((length, index) => (stated.lists[index]?.length === length ? stated.lists[index] : undefined));
  const [list] = stated.lists;
  const first = lengths.findIndex((length) => length === list?.length && (length > 1 || lengths.length === 1));
  return lengths.map((_, index) => (index === first ? list : undefined));
}

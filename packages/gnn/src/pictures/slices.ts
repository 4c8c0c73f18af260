import { orientA, orientB, orientStated, type Misfit, type TensorOrientation } from "../checks/conventions.ts";
import { familiesOf, type FamilyName } from "../checks/families.ts";
import type { Tensor } from "../checks/tensor.ts";
import type { ModelView } from "../language/view.ts";
import { assignLabels, labelsOf } from "../settings/labels.ts";
import { StatedOrders } from "../settings/orders.ts";
import { statedParameters } from "../settings/parameters.ts";
import { PICTURE_LIMITS } from "./limits.ts";
import { shortened } from "./svg.ts";

/** A matrix, or a slice of a tensor, for drawing. */
export interface Slice {
  readonly title: string;
  /** Text below the title: axes, lengths, and the part of a large matrix that is drawn. */
  readonly note: string;
  readonly rows: readonly (readonly number[])[];
}

/** Names of the axes of a matrix. For a vector, only the columns have a name. */
interface AxisNames {
  readonly rows?: string;
  readonly columns: string;
}

/** Divides tensors of a model into matrices with named axes. */
export class Slicer {
  readonly #view: ModelView;
  readonly #families: ReadonlyMap<string, FamilyName>;
  readonly #orders: StatedOrders;

  constructor(view: ModelView) {
    this.#view = view;
    const names = [...view.variables, ...view.values].map(({ name }) => name.text.replace(/^dirichlet_/, ""));
    this.#families = familiesOf(names);
    this.#orders = new StatedOrders(statedParameters(view));
  }

  /**
   * Returns the matrices of a tensor. Likelihoods and transitions are in GNN's index order, regardless of their written
   * order.
   */
  slices(name: string, tensor: Tensor): readonly Slice[] {
    const letter = this.#families.get(name.replace(/^dirichlet_/, ""))?.letter;
    if (letter === "B" && tensor.shape.length === 3) return this.#transitions(name, tensor) ?? cut(name, tensor);
    if (letter === "A" && tensor.shape.length === 2) return this.#likelihood(name, tensor);
    return cut(name, tensor, axesOf(letter ?? name, tensor.shape));
  }

  #likelihood(name: string, tensor: Tensor): readonly Slice[] {
    const order = this.#orders.of(name, "A");
    const shapes = [tensor.shape, tensor.shape.toReversed()];
    const oriented = order
      ? tensorOf(orientStated(tensor, "A", order))
      : shapes.map((shape) => tensorOf(orientA(tensor, shape))).find((one) => one !== undefined);
    return cut(name, oriented ?? tensor, { rows: "observation", columns: "state" });
  }

  /** Returns one matrix of next × previous state for each action. */
  #transitions(name: string, tensor: Tensor): readonly Slice[] | undefined {
    const order = this.#orders.of(name, "B");
    const [first, second, third] = tensor.shape as [number, number, number];
    const shapes = [
      [first, second, third],
      [second, third, first],
    ];
    const oriented = order
      ? tensorOf(orientStated(tensor, "B", order))
      : shapes.map((shape) => tensorOf(orientB(tensor, shape))).find((one) => one !== undefined);
    if (!oriented) return undefined;
    const [next = 1, previous = 1, actions = 1] = oriented.shape;
    const byAction = Float64Array.from(oriented.data, (_, at) => {
      const [action, cell] = [Math.floor(at / (next * previous)), at % (next * previous)];
      return oriented.data[cell * actions + action]!;
    });
    const [labels] = assignLabels(labelsOf(this.#view, "actions"), [actions]);
    const axes = { rows: "next state", columns: "previous state" };
    const slices = cut(name, { shape: [actions, next, previous], data: byAction }, axes);
    return slices.map((slice, at) => ({
      ...slice,
      title: `${shortened(name, 28)}, action ${labels ? shortened(labels[at]!, 12) : at}`,
    }));
  }
}

function tensorOf(found: TensorOrientation | Misfit | undefined): Tensor | undefined {
  return found && "tensor" in found ? found.tensor : undefined;
}

/** Axes of matrices with a meaning defined by GNN. */
const MATRIX_AXES: Readonly<Record<string, AxisNames>> = {
  B: { rows: "next state", columns: "previous state" },
  F: { rows: "next state", columns: "previous state" },
  H: { rows: "observation", columns: "state" },
  Q: { rows: "next state", columns: "next state" },
  R: { rows: "observation", columns: "observation" },
  prior_cov: { rows: "state", columns: "state" },
};
const VECTOR_AXES: Readonly<Record<string, string>> = {
  A: "observation",
  C: "observation",
  D: "state",
  E: "policy",
  prior_mean: "state",
};

/** Returns the axes of the last two dimensions; of a likelihood over several factors, the states of the last two. */
function axesOf(name: string, { length }: readonly number[]): AxisNames | undefined {
  if (length > 2 && (name === "A" || name === "B"))
    return { rows: `state, dimension ${length - 1}`, columns: name === "A" ? `state, dimension ${length}` : "action" };
  const column = VECTOR_AXES[name];
  if (length === 2 && Object.hasOwn(MATRIX_AXES, name)) return MATRIX_AXES[name];
  return column === undefined ? undefined : { columns: column };
}

/** Divides a tensor into matrices along all dimensions except the last two. */
function cut(name: string, { shape, data }: Tensor, axes?: AxisNames): readonly Slice[] {
  const [rows = 1, columns = 1] = shape.length === 1 ? [1, shape[0]!] : shape.slice(-2);
  const outer = shape.slice(0, -2);
  const count = data.length / (rows * columns);
  const note = noteOf({ rows, columns, count });
  return Array.from({ length: Math.min(count, PICTURE_LIMITS.slices) }, (_, at) => ({
    title: shortened(`${name}${outer.length === 0 ? "" : `[${placeOf(at, outer).join(", ")}]`}`, 40),
    note: `${sizeOf(rows, columns, axes)}${note}`,
    rows: Array.from({ length: Math.min(rows, PICTURE_LIMITS.cells) }, (__, row) => {
      const from = (at * rows + row) * columns;
      return Array.from(data.subarray(from, from + Math.min(columns, PICTURE_LIMITS.cells)));
    }),
  }));
}

/** Returns the lengths and axes, such as `2 × 3: observation × state`; without known axes only the lengths. */
function sizeOf(rows: number, columns: number, axes: AxisNames | undefined): string {
  const size = `${rows} × ${columns}`;
  if (!axes) return size;
  return `${size}: ${axes.rows === undefined ? "" : `${axes.rows} × `}${axes.columns}`;
}

function noteOf({ rows, columns, count }: Readonly<Record<"rows" | "columns" | "count", number>>): string {
  const { cells, slices } = PICTURE_LIMITS;
  const cuts =
    rows > cells || columns > cells ? `, the first ${Math.min(rows, cells)} × ${Math.min(columns, cells)}` : "";
  return count > slices ? `${cuts}, ${slices} of ${count}` : cuts;
}

function placeOf(at: number, outer: readonly number[]): readonly number[] {
  const place: number[] = [];
  let rest = at;
  for (const length of outer.toReversed()) {
    place.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return place;
}

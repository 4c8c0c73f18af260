import { graphOf } from "../exports/graph.ts";
import type { GnnFile } from "../language/model.ts";
import { viewOf } from "../language/view.ts";
import { drawGraph } from "./graph-picture.ts";
import { drawMatrices } from "./heat-map.ts";
import { PictureError } from "./picture-error.ts";
import { THEMES, type ThemeName } from "./theme.ts";

export { PictureError } from "./picture-error.ts";
export { toPng } from "./png.ts";
export type { ThemeName } from "./theme.ts";

/** Every picture, under the name that it is asked for by. */
export const PICTURES = {
  graph: "the graph: factors as boxes, all else round",
  roles: "the same, grouped by what each variable is to the model",
  matrices: "the numbers of InitialParameterization as maps of colours",
} as const;

export type PictureName = keyof typeof PICTURES;

export interface DrawOptions {
  /** @default "graph" */
  readonly picture?: PictureName;
  /** @default "light" */
  readonly theme?: ThemeName;
  /** Which model of the file, from 1. @default all in one graph; the matrices of the first */
  readonly model?: number;
}

/** Draws a file as SVG. Rejects with a `PictureError`. */
export async function drawGnn(
  file: GnnFile,
  { picture = "graph", theme = "light", model }: DrawOptions = {},
): Promise<string> {
  const models = model === undefined ? file.models : [modelAt(file, model)];
  if (picture === "matrices") return drawMatrices(viewOf(models[0]!), THEMES[theme]);
  return drawGraph(graphOf({ ...file, models }), { byRole: picture === "roles", theme: THEMES[theme] });
}

function modelAt({ models }: GnnFile, at: number): GnnFile["models"][number] {
  const model = models[at - 1];
  if (model) return model;
  throw new PictureError(`The file has ${models.length} model${models.length === 1 ? "" : "s"}, so there is no ${at}.`);
}

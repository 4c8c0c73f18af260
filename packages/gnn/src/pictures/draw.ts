import { graphOf } from "../exports/graph.ts";
import { chooseModels, UnknownModel, type NamedModel } from "../language/choose-models.ts";
import type { GnnFile } from "../language/model.ts";
import { drawGraph } from "./graph-picture.ts";
import { drawMatrices } from "./heat-map.ts";
import { PictureError } from "./picture-error.ts";
import { THEMES, type ThemeName } from "./theme.ts";

export { PictureError } from "./picture-error.ts";
export { toPng } from "./png.ts";
export type { ThemeName } from "./theme.ts";

/** All pictures, by name. */
export const PICTURES = {
  graph: "the graph: factors as boxes, other variables with round ends",
  roles: "the graph, with variables grouped by their role",
  matrices: "the numbers of InitialParameterization as heat maps",
} as const;

export type PictureName = keyof typeof PICTURES;

export interface DrawOptions {
  /** Kind of picture. @default "graph" */
  readonly picture?: PictureName;
  /** Colour theme. @default "light" */
  readonly theme?: ThemeName;
  /** Identifier, name or number (from 1) of one model of the file. @default all in one picture */
  readonly model?: string | number;
}

/** Draws a file as SVG. Rejects with a `PictureError`. */
export async function drawGnn(
  file: GnnFile,
  { picture = "graph", theme = "light", model }: DrawOptions = {},
): Promise<string> {
  const models = chosen(file, model);
  if (models.length === 0) throw new PictureError("There is no model to draw.");
  if (picture === "matrices") return drawMatrices(models, THEMES[theme]);
  return drawGraph(graphOf({ ...file, models: models.map((one) => one.model) }), {
    byRole: picture === "roles",
    theme: THEMES[theme],
  });
}

function chosen({ models }: GnnFile, wanted: string | number | undefined): readonly NamedModel[] {
  try {
    return chooseModels(models, wanted);
  } catch (error) {
    throw error instanceof UnknownModel ? new PictureError(error.message) : error;
  }
}

import picocolors from "picocolors";
import type { Io } from "./io.ts";

type Colors = ReturnType<typeof picocolors.createColors>;

/** Returns colour functions for a terminal; otherwise functions that return text unchanged. */
export function colorsOf({ color }: Pick<Io, "color">): Colors {
  return picocolors.createColors(color);
}

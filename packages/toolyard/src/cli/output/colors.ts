import picocolors from "picocolors";
import type { Io } from "./io.ts";

type Colors = ReturnType<typeof picocolors.createColors>;

/** Colours where a person looks at a terminal, else functions that leave text alone. */
export function colorsOf({ color }: Pick<Io, "color">): Colors {
  return picocolors.createColors(color);
}

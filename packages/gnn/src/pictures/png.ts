import type * as resvg from "@resvg/resvg-wasm";
import { readFile } from "node:fs/promises";
import { importExtra, resolveExtra } from "toolyard/extras";
import { PICTURE_LIMITS } from "./limits.ts";
import { PictureError } from "./picture-error.ts";

const FONT = new URL("font/dejavu-sans.ttf", import.meta.url);

interface Painter {
  readonly Resvg: typeof resvg.Resvg;
  readonly font: Uint8Array;
}

let painter: Promise<Painter> | undefined;

/**
 * Converts an SVG of this package into a PNG, at double resolution if it is small enough. Rejects with a
 * `PictureError`.
 */
export async function toPng(svg: string): Promise<Uint8Array> {
  painter ??= loadPainter();
  const { Resvg, font } = await painter.catch((error: unknown) => {
    painter = undefined;
    throw error;
  });
  const [, width = "1", height = "1"] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  const zoom = Math.min(2, PICTURE_LIMITS.pixels / Math.max(Number(width), Number(height)));
  const picture = new Resvg(svg, {
    fitTo: { mode: "zoom", value: zoom },
    font: { fontBuffers: [font], defaultFontFamily: "DejaVu Sans", sansSerifFamily: "DejaVu Sans" },
  });
  try {
    return picture.render().asPng();
  } finally {
    picture.free();
  }
}

async function loadPainter(): Promise<Painter> {
  const { initWasm, Resvg } = await importExtra<typeof resvg>("pictures", "@resvg/resvg-wasm", {
    purpose: "a picture as PNG",
  }).catch((error: Error) => {
    throw new PictureError(error.message, { cause: error });
  });
  const wasm = resolveExtra("pictures", "@resvg/resvg-wasm/index_bg.wasm")!;
  const [code, font] = await Promise.all([readFile(wasm), readFile(FONT)]);
  await initWasm(code);
  return { Resvg, font };
}

import { extname, resolve } from "node:path";
import { OptionError } from "toolyard";
import { drawGnn, PictureError, PICTURES, toPng, type PictureName, type ThemeName } from "../pictures/draw.ts";
import { forEachFile, withOutput } from "./several-files.ts";
import { harmless, readAnyFormat, STDIN, writeTo, type CommandIo } from "./files.ts";

export interface DrawCommandOptions {
  readonly picture?: PictureName;
  readonly theme?: ThemeName;
  /** Identifier, name or number of one model. */
  readonly model?: string;
  /** Output file (.svg or .png). For several input files: the folder of the pictures. */
  readonly output?: string;
  /** Format of the pictures for several input files. */
  readonly format?: "svg" | "png";
}

/**
 * Draws files: one file as SVG on standard output or into a file, several files into a folder. Throws an `OptionError`
 * if that is impossible.
 */
export async function draw(names: readonly string[], options: DrawCommandOptions, io: CommandIo): Promise<number> {
  const { picture = "graph", output, format = "svg" } = options;
  if (!Object.hasOwn(PICTURES, picture))
    throw new OptionError(
      `--picture must be one of ${Object.keys(PICTURES).join(", ")}, got ${JSON.stringify(picture)}.`,
    );
  return forEachFile(names, { io, output, option: "--output", ending: `.${format}` }, (name, own) =>
    drawFile(name, withOutput(options, own), io),
  );
}

async function drawFile(name: string, options: DrawCommandOptions, io: CommandIo): Promise<number> {
  const { picture = "graph", theme = "light", model, output = STDIN } = options;
  const ending = endingOf(output);
  const { file } = await readAnyFormat(name, io);
  try {
    const svg = await drawGnn(file, { picture, theme, ...(model === undefined ? {} : { model }) });
    const content = ending === ".svg" ? svg : await toPng(svg);
    if (output === STDIN) await io.print(svg.trimEnd());
    else await writeTo(resolve(io.cwd, output), content);
    return 0;
  } catch (error) {
    if (error instanceof PictureError) throw new OptionError(harmless(error.message), { cause: error });
    throw error;
  }
}

function endingOf(output: string): ".svg" | ".png" {
  const ending = output === STDIN ? ".svg" : extname(output).toLowerCase();
  if (ending === ".svg" || ending === ".png") return ending;
  throw new OptionError(`--output must end in .svg or .png, got ${JSON.stringify(output)}.`);
}

import { writeFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { OptionError } from "toolyard";
import { drawGnn, PictureError, PICTURES, toPng, type PictureName, type ThemeName } from "../pictures/draw.ts";
import { readAnyFormat, STDIN, type CommandIo } from "./files.ts";

export interface DrawCommandOptions {
  readonly picture?: PictureName;
  readonly theme?: ThemeName;
  /** From 1. */
  readonly model?: string;
  /** Ends in .svg or .png. */
  readonly output?: string;
}

/** Draws a file, as SVG on standard output or into a file. Throws an `OptionError` where that cannot be done. */
export async function draw(name: string, options: DrawCommandOptions, io: CommandIo): Promise<number> {
  const { picture = "graph", theme = "light", output = STDIN } = options;
  const ending = output === STDIN ? ".svg" : extname(output).toLowerCase();
  if (ending !== ".svg" && ending !== ".png")
    throw new OptionError(`--output must end in .svg or .png, got ${JSON.stringify(output)}.`);
  if (!Object.hasOwn(PICTURES, picture))
    throw new OptionError(
      `--picture must be one of ${Object.keys(PICTURES).join(", ")}, got ${JSON.stringify(picture)}.`,
    );
  const { file } = await readAnyFormat(name, io);
  try {
    const svg = await drawGnn(file, { picture, theme, ...modelOf(options.model) });
    if (output === STDIN) await io.print(svg.trimEnd());
    else await writeFile(resolve(io.cwd, output), ending === ".svg" ? svg : await toPng(svg));
    return 0;
  } catch (error) {
    if (error instanceof PictureError) throw new OptionError(error.message, { cause: error });
    throw new OptionError(`${output} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

function modelOf(text: string | undefined): { readonly model?: number } {
  if (text === undefined) return {};
  if (/^[1-9]\d{0,5}$/.test(text)) return { model: Number(text) };
  throw new OptionError(`--model must be a whole number from 1, got ${JSON.stringify(text)}.`);
}

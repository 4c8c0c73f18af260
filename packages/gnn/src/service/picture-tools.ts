import { basename, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ModuleHub, ToolContext } from "toolyard";
import { findGnnFiles } from "../directory-check.ts";
import type { GnnFile } from "../language/model.ts";
import { drawGnn, PICTURES, PictureError, toPng, type PictureName, type ThemeName } from "../pictures/draw.ts";
import { ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import { readSource, type ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface DrawArguments extends ModelSource {
  readonly picture?: PictureName;
  readonly theme?: ThemeName;
  readonly format?: "png" | "svg";
  readonly model?: string | number;
}

const NAMES = Object.keys(PICTURES) as PictureName[];

const DRAW_INPUT = schemas.input({
  ...schemas.SOURCE_PROPERTIES,
  picture: {
    type: "string",
    enum: NAMES,
    default: "graph",
    description: NAMES.map((name) => `\`${name}\`: ${PICTURES[name]}`).join("; "),
  },
  theme: { type: "string", enum: ["light", "dark"], default: "light" },
  format: {
    type: "string",
    enum: ["png", "svg"],
    default: "png",
    description: "Format of the picture. `svg` is returned as text.",
  },
  model: schemas.MODEL,
});

/** Registers `gnn.draw` and its resources `gnn://…/graph.svg`. */
export function registerDrawing(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<DrawArguments>({
    name: "gnn.draw",
    description: "Draws a GNN model: its graph, its variables by role, or its matrices as heat maps.",
    schema: DRAW_INPUT,
    keywords: ["picture", "image", "diagram", "plot", "visualize", "heat map"],
    annotations: schemas.READS_FILES,
    handler: async ({ format = "png", ...args }) => {
      const svg = await draw((await readSource(files, args)).file, args);
      if (format === "svg") return svg;
      const data = Buffer.from(await painted(svg)).toString("base64");
      return { content: [{ type: "image", data, mimeType: "image/png" }, ...linksOf(args)] };
    },
  });
  for (const name of NAMES)
    for (const [format, mimeType] of [
      ["svg", "image/svg+xml"],
      ["png", "image/png"],
    ] as const)
      hub.registerResource(
        `gnn://model/{+file_path}/${name}.${format}`,
        async (_uri, { file_path: path = "" }) => {
          const svg = await draw((await readSource(files, { file_path: path })).file, { picture: name });
          return format === "svg" ? svg : painted(svg);
        },
        `Picture of the models of a file, as ${format.toUpperCase()}: ${PICTURES[name]}.`,
        { name: `GNN ${name} (${format})`, mimeType },
      );
}

/** Returns links to the same picture as SVG. */
function linksOf({ file_path: path, picture = "graph" }: DrawArguments): readonly object[] {
  if (path === undefined) return [];
  const uri = `gnn://model/${path.split("/").map(encodeURIComponent).join("/")}/${picture}.svg`;
  return [{ type: "resource_link", uri, name: `${picture}.svg`, mimeType: "image/svg+xml" }];
}

interface VisualizeFile {
  readonly file_path: string;
  readonly output_dir?: string;
}

interface VisualizeDirectory {
  readonly dir_path: string;
  readonly output_dir?: string;
}

const OUTPUT_DIR = { type: "string", description: "Folder for the pictures. It is created if it does not exist." };
const DEFAULT_OUTPUT = "visualization";

/** Registers the tools that write pictures next to models, and the resource that lists the pictures. */
export function registerVisualization(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<VisualizeFile>({
    name: "visualization.visualize_gnn_file",
    description: "Writes pictures of a GNN file into a folder: its graph, its variables by role and its matrices.",
    schema: schemas.input(
      { file_path: { type: "string", description: "Path of the GNN file." }, output_dir: OUTPUT_DIR },
      ["file_path"],
    ),
    aliases: ["visualize_gnn_file"],
    annotations: schemas.WRITES_FILES,
    handler: async ({ file_path: path, output_dir: folder = DEFAULT_OUTPUT }) => {
      const written = await visualize(files, path, folder);
      return {
        success: true,
        file_path: path,
        output_directory: folder,
        files: written,
        message: `${written.length} pictures of ${path} were written to ${folder}.`,
      };
    },
  });
  hub.registerTool<VisualizeDirectory>({
    name: "visualization.visualize_gnn_directory",
    description: "Writes pictures of every GNN file in a folder into another folder, with one subfolder per file.",
    schema: schemas.input(
      { dir_path: { type: "string", description: "Path of the folder." }, output_dir: OUTPUT_DIR },
      ["dir_path"],
    ),
    aliases: ["visualize_gnn_directory"],
    annotations: schemas.WRITES_FILES,
    handler: (args, context) => visualizeDirectory(files, args, context),
  });
  hub.registerResource(
    "visualization://{+output_directory}",
    async (_uri, { output_directory: folder = "" }) => {
      const path = await files.existing(folder).catch(() => undefined);
      return path === undefined ? undefined : { output_directory: folder, files: await files.list(folder) };
    },
    "Names of the pictures in an output folder of the visualization tools.",
    { name: "Written pictures", mimeType: "application/json" },
  );
}

async function visualizeDirectory(
  files: ModelFiles,
  { dir_path: from, output_dir: to = DEFAULT_OUTPUT }: VisualizeDirectory,
  { signal, progress }: ToolContext,
): Promise<object> {
  const root = await files.existing(from).catch((error: unknown) => {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure(`Directory not found: ${from}`, "invalid_params");
  });
  const found = await findGnnFiles(root, { recursive: false });
  const stems = found.map((path) => basename(path, extname(path)));
  const written: string[] = [];
  const skipped: { file_path: string; reason: string }[] = [];
  for (const [index, path] of found.entries()) {
    signal.throwIfAborted();
    // Files whose names differ only in the extension have folders with the extension in their names.
    const isAlone = stems.filter((stem) => stem === stems[index]).length === 1;
    const own = join(to, isAlone ? stems[index]! : basename(path));
    const result = await visualize(files, join(from, basename(path)), own).catch((error: Error) => error);
    if (result instanceof Error) skipped.push({ file_path: join(from, basename(path)), reason: result.message });
    else written.push(...result);
    progress(index + 1, found.length);
  }
  return { success: true, directory_path: from, output_directory: to, files: written, skipped };
}

/** Writes the pictures of a file. Returns their URIs. */
async function visualize(files: ModelFiles, path: string, folder: string): Promise<readonly string[]> {
  const { file, diagnostics } = await readSource(files, { file_path: path });
  if (diagnostics.some(({ code }) => code === "E013"))
    throw new ToolFailure(`${path} contains no GNN section.`, "invalid_params");
  const written: string[] = [];
  for (const picture of NAMES) {
    const svg = await drawGnn(file, { picture }).catch(withoutPicture);
    if (svg === undefined) continue;
    written.push(await files.write(join(folder, `${picture}.svg`), svg));
    const png = await toPng(svg).catch(withoutPicture);
    if (png !== undefined) written.push(await files.write(join(folder, `${picture}.png`), png));
  }
  return written.map((one) => pathToFileURL(one).href);
}

/**
 * Handles the error of a picture that this model does not have or that this machine cannot paint: the picture is
 * omitted.
 */
function withoutPicture(error: unknown): undefined {
  if (error instanceof PictureError) return undefined;
  throw error;
}

async function draw(file: GnnFile, options: Omit<DrawArguments, "format">): Promise<string> {
  const { picture, theme, model } = options;
  return inWords(
    drawGnn(file, {
      ...(picture === undefined ? {} : { picture }),
      ...(theme === undefined ? {} : { theme }),
      ...(model === undefined ? {} : { model }),
    }),
  );
}

function painted(svg: string): Promise<Uint8Array> {
  return inWords(toPng(svg));
}

async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PictureError) throw new ToolFailure(error.message);
    throw error;
  }
}

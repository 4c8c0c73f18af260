import { fromData, toData, toValueData, type FileData, type ModelData } from "../language/data.ts";
import type { GnnFile, Model } from "../language/model.ts";
import { edgesOf, timeOf, viewOf, type Edge } from "../language/view.ts";
import { FormatError } from "./format-error.ts";
import { checkFileData } from "./file-data-shape.ts";

const FORMAT = "gnn-json";
const VERSION = 1;

/**
 * Returns a file as plain data: variables, single edges and values for programs, and in `sections` all content in
 * order, from which the file can be restored.
 */
export function toJsonData(file: GnnFile): object {
  const { models, ...rest } = toData(file);
  return {
    format: FORMAT,
    version: VERSION,
    ...rest,
    models: models.map((data, index) => ({ ...summaryOf(file.models[index]!), ...data })),
  };
}

export function toJson(file: GnnFile): string {
  return `${JSON.stringify(toJsonData(file), undefined, 2)}\n`;
}

function edgeData({ source, target, directed, label, constraint }: Edge): object {
  return { source, target, directed, label, constraint };
}

function summaryOf(model: Model): object {
  const view = viewOf(model);
  return {
    identifier: view.identifier ?? null,
    gnn_version: view.version ?? null,
    name: view.name ?? null,
    annotation: view.annotation ?? null,
    variables: view.variables.map(({ name, type, dimensions }) => ({
      name: name.text,
      type: type?.text ?? "float",
      dimensions: dimensions.map((dimension) => {
        if (dimension.kind === "size") return dimension.size;
        if (dimension.kind === "length") return `len(${dimension.name})`;
        return dimension.kind === "reference" ? dimension.name : dimension.text;
      }),
    })),
    edges: edgesOf(view).edges.map(edgeData),
    values: Object.fromEntries(view.values.map(({ name, value }) => [name.text, toValueData(value)])),
    equations: view.equations.map(({ text }) => text),
    time: timeOf(view),
    ontology: Object.fromEntries(view.mappings.map(({ name, term }) => [name.text, term.text])),
    parameters: Object.fromEntries(view.parameters.map(({ key, value }) => [key.text, toValueData(value)])),
  };
}

/** Reads JSON written by `toJson`. Throws a `FormatError` with the reason. */
export function fromJson(text: string): GnnFile {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new FormatError(`This is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  return fromJsonData(data);
}

/**
 * Restores a file from the data of `toJsonData`, also after a conversion through another format. Throws a
 * `FormatError`.
 */
export function fromJsonData(data: unknown): GnnFile {
  const wanted = typeof data === "object" && data !== null && "format" in data ? data : undefined;
  if (wanted?.format !== FORMAT || !("version" in wanted) || wanted.version !== VERSION)
    throw new FormatError(
      `"format" and "version" must be "${FORMAT}" and ${VERSION}. Export a GNN file as JSON to see one.`,
    );
  const file: FileData = checkFileData(wanted);
  return fromData({
    form: file.form,
    ...(file.frontMatter ? { frontMatter: file.frontMatter } : {}),
    models: file.models.map(({ header, sections }: ModelData) => ({ header, sections })),
  });
}

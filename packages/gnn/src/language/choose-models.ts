import type { Model } from "./model.ts";
import { viewOf } from "./view.ts";
import { firstChars } from "toolyard/text";

/** A model of a file with a short label that is unique in the file. */
export interface NamedModel {
  readonly label: string;
  readonly model: Model;
}

/** Thrown if no model of a file has the requested name. */
export class UnknownModel extends Error {
  override readonly name = "UnknownModel";
}

/**
 * Returns the models that the user selects by identifier, ModelName or number (from 1); all models without a selection.
 * Throws an `UnknownModel` with the existing names.
 */
export function chooseModels(models: readonly Model[], wanted?: string | number): readonly NamedModel[] {
  const named = namedModels(models);
  if (wanted === undefined) return named.map(({ label, model }) => ({ label, model }));
  const word = String(wanted);
  const plain = word.toLowerCase();
  const chosen =
    named.find(({ names }) => names.includes(word)) ??
    named.find(({ names }) => names.some((name) => name.toLowerCase() === plain)) ??
    (/^[1-9]\d{0,5}$/.test(word) ? named[Number(word) - 1] : undefined);
  if (chosen) return [chosen];
  const there = named.slice(0, MAX_TOLD).map(({ label }) => label);
  throw new UnknownModel(
    `There is no model ${JSON.stringify(firstChars(word, 100))} among ${models.length}: ` +
      `${there.join(", ")}${models.length > MAX_TOLD ? ", …" : ""}. Give one of these names, or a number from 1.`,
  );
}

/** Maximum number of names that a message lists. */
const MAX_TOLD = 20;

function namedModels(models: readonly Model[]): readonly (NamedModel & { readonly names: readonly string[] })[] {
  const taken = new Set<string>();
  return models.map((model, index) => {
    const { identifier, name } = viewOf(model);
    const first = identifier ?? name ?? `model${index + 1}`;
    let label = first;
    for (let count = index + 1; taken.has(fileNameOf(label)); count += 1) label = `${firstChars(first, 40)}_${count}`;
    taken.add(fileNameOf(label));
    return { label, model, names: [label, ...(name === undefined ? [] : [name])] };
  });
}

/** Returns the output path of one model. With several models, the model's name precedes the extension. */
export function pathOf(path: string, { label }: NamedModel, count: number): string {
  if (count === 1) return path;
  const extension = /[^/\\](\.[^./\\]*)$/.exec(path)?.[1] ?? "";
  const stem = path.slice(0, path.length - extension.length);
  return `${stem}_${fileNameOf(label)}${extension}`;
}

/** Returns a file name that is valid on any file system. Different labels have different file names. */
function fileNameOf(label: string): string {
  return firstChars(label.replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, "_").toLowerCase(), MAX_FILE_NAME);
}

const MAX_FILE_NAME = 60;

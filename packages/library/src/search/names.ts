import { folded } from "./terms.ts";

/** A person's name as it is compared: «Peirce, Charles Sanders» is «charles sanders peirce». */
export function authorKey(name: string): string {
  const [last = "", ...first] = name.split(",");
  return plainWords(first.length === 1 ? `${first[0]} ${last}` : name);
}

/** A title as it is compared: without accents, marks and capitals. */
export function plainWords(text: string): string {
  return folded(text.normalize("NFKC").toLowerCase())
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
